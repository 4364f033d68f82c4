// Quality tiers. Frames must be shown while they are new, so a slow GPU (or none) gets fewer
// pixels and simpler materials; the content is the same.

export interface Tier {
  name: "low" | "medium" | "high";
  /** Image pixels per page pixel, with and without GPU antialiasing. */
  ratio: (device: number, smoothed: boolean) => number;
  /** Width of the shadow map [pixels], and whether the edges of shadows are soft. */
  shadow: number;
  softShadows: boolean;
  /** Whether fabric has sheen, a weave, and environment light. */
  fine: boolean;
}

export const TIERS: readonly [Tier, Tier, Tier] = [
  { name: "low", ratio: (device) => Math.min(device, 1) * 0.5, shadow: 512, softShadows: false, fine: false },
  { name: "medium", ratio: (device) => Math.min(device, 1), shadow: 1024, softShadows: true, fine: false },
  { name: "high", ratio: (device, smoothed) => Math.min(smoothed ? device : 1.5 * device, 2), shadow: 2048, softShadows: true, fine: true },
];

/** Target time of an image [ms]; half of it leaves room for a better tier. */
const TARGET = 14;
const SAMPLES = 12;

/** Lowers the tier if images take too long, and raises it if there is room, but never again to a tier that was too slow. */
export class Governor {
  private samples: number[] = [];
  private ceiling = TIERS.length - 1;
  automatic = true;

  constructor(public tier: number) {}

  /** Records the time of an image [ms]; true if the tier has changed. */
  took(milliseconds: number): boolean {
    if (!this.automatic) return false;
    this.samples.push(milliseconds);
    if (this.samples.length < SAMPLES) return false;
    const median = this.samples.sort((a, b) => a - b)[SAMPLES >> 1]!;
    this.samples = [];
    if (median > TARGET && this.tier > 0) {
      this.tier -= 1;
      this.ceiling = this.tier;
      return true;
    }
    if (median < TARGET / 4 && this.tier < this.ceiling) {
      this.tier += 1;
      return true;
    }
    return false;
  }

  /** Selects a tier; null: automatic. */
  choose(tier: number | null): void {
    this.automatic = tier === null;
    this.samples = [];
    if (tier !== null) this.tier = tier;
    else this.ceiling = TIERS.length - 1;
  }
}

/** Whether rendering is done in software, according to the renderer's name. */
export function isSoftware(gl: WebGL2RenderingContext | WebGLRenderingContext): boolean {
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}
