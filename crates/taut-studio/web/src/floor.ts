// The studio's floor: a soft disc that fades into the background, fine lines for scale, and the shadows on it.

import * as THREE from "three";

export interface FloorColours {
  disc: string;
  line: string;
  shadow: number;
}

export class Floor {
  readonly mesh: THREE.Mesh<THREE.PlaneGeometry, THREE.ShadowMaterial>;
  private readonly disc = { value: new THREE.Color() };
  private readonly line = { value: new THREE.Color() };
  private readonly radius = { value: 1 };
  private readonly centre = { value: new THREE.Vector2() };
  private readonly step = { value: 0.1 };
  private readonly detail = { value: 1 };

  constructor() {
    const material = new THREE.ShadowMaterial({ color: "#05060a", toneMapped: false });
    material.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, {
        disc: this.disc, line: this.line, radius: this.radius, centre: this.centre, lineStep: this.step, detail: this.detail,
      });
      const place = "varying vec2 place;\nvoid main() {\n place = (modelMatrix * vec4(position, 1.0)).xz;";
      shader.vertexShader = shader.vertexShader.replace("void main() {", place);
      shader.fragmentShader = shader.fragmentShader
        .replace("void main() {", `${LINES}\nvoid main() {`)
        .replace(/gl_FragColor = vec4\( color, [^;]*;/, COMPOSE);
    };
    this.mesh = new THREE.Mesh(new THREE.PlaneGeometry(2, 2).rotateX(-Math.PI / 2), material);
    this.mesh.receiveShadow = true;
    this.mesh.renderOrder = -1;
  }

  place(centre: THREE.Vector3, height: number, size: number): void {
    this.mesh.position.set(centre.x, height, centre.z);
    this.radius.value = 3.2 * size;
    this.mesh.scale.setScalar(this.radius.value);
    this.centre.value.set(centre.x, centre.z);
    this.step.value = 10 ** Math.round(Math.log10(size / 12));
  }

  /** Whether the finer of its two sets of lines is visible. */
  fine(shown: boolean): void {
    this.detail.value = shown ? 1 : 0;
  }

  colour(colours: FloorColours): void {
    this.disc.value.set(colours.disc);
    this.line.value.set(colours.line);
    this.mesh.material.opacity = colours.shadow;
  }
}

const LINES = `
varying vec2 place;
uniform vec3 disc;
uniform vec3 line;
uniform float radius;
uniform vec2 centre;
uniform float lineStep;
uniform float detail;
float lines(float apart) {
  vec2 at = place / apart;
  vec2 width = fwidth(at);
  vec2 near = abs(fract(at - 0.5) - 0.5) / max(width, vec2(1e-6));
  // Lines closer than a few pixels fade before they flicker.
  return (1.0 - min(min(near.x, near.y), 1.0)) * (1.0 - smoothstep(0.1, 0.35, max(width.x, width.y)));
}`;

// Shadow over lines over the disc, over the background.
const COMPOSE = `
float dark = opacity * (1.0 - getShadowMask());
float away = length(place - centre) / radius;
float cover = 1.0 - smoothstep(0.12, 0.95, away);
float fineLines = detail > 0.5 ? 0.20 * lines(lineStep) : 0.0;
vec3 ground = mix(disc, line, fineLines + 0.5 * lines(10.0 * lineStep));
float ends = 1.0 - smoothstep(0.55, 0.9, away);
dark *= ends;
float over = 1.0 - (1.0 - cover) * (1.0 - dark);
gl_FragColor = vec4((ground * cover * (1.0 - dark) + color * dark) / max(over, 1e-4), over);`;
