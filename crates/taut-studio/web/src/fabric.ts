// Render materials of bodies and obstacles, for each quality tier.

import * as THREE from "three";
import type { BodyInfo, Colouring } from "./protocol";
import type { Tier } from "./quality";

/** Fraction of a colouring's colour that light does not change, so that it can be compared with its scale. */
const UNLIT: Record<Exclude<Colouring, "none">, number> = { strain: 0.5, residual: 0.5, hsv: 0.9 };
/** Width of the weave's tile on the cloth [m]. */
export const WEAVE = 0.012;

type Shader = { fragmentShader: string };

/** The inside of cloth is slightly darker than its outside, so that folds are visible. */
function twoSided(shader: Shader): void {
  const code = "#include <color_fragment>\n if (!gl_FrontFacing) diffuseColor.rgb *= 0.84;";
  shader.fragmentShader = shader.fragmentShader.replace("#include <color_fragment>", code);
}

export function fabricMaterial(info: BodyInfo, tier: Tier, weave: THREE.Texture | null): THREE.Material {
  const cloth = info.kind === "cloth";
  const side = cloth ? THREE.DoubleSide : THREE.FrontSide;
  const shared = { color: info.color, side, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 };
  if (!tier.fine) {
    const material = new THREE.MeshLambertMaterial(shared);
    if (cloth) material.onBeforeCompile = twoSided;
    return material;
  }
  const sheenColor = new THREE.Color(info.color).lerp(new THREE.Color("white"), 0.55);
  const material = new THREE.MeshPhysicalMaterial({
    ...shared,
    roughness: cloth ? 0.92 : 0.55,
    sheen: cloth ? 0.3 : 0.1,
    sheenRoughness: 0.55,
    sheenColor,
    bumpMap: cloth ? weave : null,
    bumpScale: 0.5,
  });
  if (cloth) material.onBeforeCompile = twoSided;
  return material;
}

export function measureMaterial(info: BodyInfo, colouring: Exclude<Colouring, "none">): THREE.Material {
  const side = info.kind === "cloth" ? THREE.DoubleSide : THREE.FrontSide;
  const material = new THREE.MeshLambertMaterial({
    side, vertexColors: true, toneMapped: false, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1,
  });
  const unlit = UNLIT[colouring].toFixed(2);
  const code = `totalEmissiveRadiance += ${unlit} * diffuseColor.rgb; diffuseColor.rgb *= 1.0 - ${unlit};`;
  material.onBeforeCompile = (shader: Shader) => {
    shader.fragmentShader = shader.fragmentShader.replace("#include <emissivemap_fragment>", code);
  };
  material.customProgramCacheKey = () => `measure-${unlit}`;
  return material;
}

export function obstacleMaterial(tier: Tier): THREE.Material {
  // Vertices of cloth lie on the surface; between them its triangles are slightly inside of round obstacles. A depth offset keeps the obstacle from showing through.
  const behind = { polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 48 };
  const shared = { color: "#d6d1c9", side: THREE.DoubleSide, ...behind };
  return tier.fine ? new THREE.MeshStandardMaterial({ ...shared, roughness: 0.8 }) : new THREE.MeshLambertMaterial(shared);
}

/** Height map of a plain weave, eight threads each way; its mipmaps are flat, so that it does not flicker at a distance. */
export function weaveTexture(): THREE.Texture {
  const size = 128;
  const threads = 8;
  const data = new Uint8Array(4 * size * size);
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const u = (x / size) * threads;
      const v = (y / size) * threads;
      const over = (Math.floor(u) + Math.floor(v)) % 2 === 0;
      const across = Math.sin(Math.PI * (over ? v % 1 : u % 1));
      const along = Math.sin(Math.PI * (over ? u % 1 : v % 1));
      const height = Math.round(255 * across * (0.55 + 0.45 * along));
      data.set([height, height, height, 255], 4 * (y * size + x));
    }
  }
  const texture = new THREE.DataTexture(data, size, size);
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  texture.minFilter = THREE.LinearMipmapLinearFilter;
  texture.magFilter = THREE.LinearFilter;
  texture.generateMipmaps = true;
  texture.anisotropy = 8;
  texture.needsUpdate = true;
  return texture;
}
