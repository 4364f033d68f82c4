// Builds the page into dist/ (index.html and assets/), and with --test the tests into test-build/.
import { cp, mkdir, rm } from "node:fs/promises";
import { build } from "esbuild";

if (process.argv.includes("--test")) {
  await rm("test-build", { recursive: true, force: true });
  await build({
    entryPoints: ["test/unit.test.ts", "test/rate.test.ts", "test/studio.test.ts"],
    outdir: "test-build",
    outExtension: { ".js": ".mjs" },
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: "inline",
    logLevel: "warning",
  });
} else {
  await rm("dist", { recursive: true, force: true });
  await mkdir("dist/assets", { recursive: true });
  await build({
    entryPoints: { studio: "src/main.ts" },
    outdir: "dist/assets",
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    legalComments: "eof",
    logLevel: "warning",
  });
  await cp("src/index.html", "dist/index.html");
  await cp("src/icon.svg", "dist/assets/icon.svg");
}
