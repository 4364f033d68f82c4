// Curves of a body, such as ropes and hair, as lines with highlights along them.

import * as THREE from "three";
import type { Colouring } from "./protocol";
import { smoothTangents } from "./surface";

/** Direction towards the studio's key light, and its part of the light. */
const TOWARD = new THREE.Vector3(-0.55, 0.75, 0.45).normalize();

const VERTEX = `
attribute vec3 tangent3;
attribute float shade;
varying float vShade;
varying vec3 vTangent;
varying vec3 vView;
varying vec3 vColour;
void main() {
  vTangent = tangent3;
  vColour = color;
  vShade = shade;
  vec4 world = modelMatrix * vec4(position, 1.0);
  vView = cameraPosition - world.xyz;
  gl_Position = projectionMatrix * viewMatrix * world;
}`;

// Kajiya and Kay: a fibre reflects light into a cone around its tangent.
const FRAGMENT = `
uniform vec3 colour;
uniform vec3 toward;
uniform float measured;
varying float vShade;
varying vec3 vTangent;
varying vec3 vView;
varying vec3 vColour;
void main() {
  vec3 t = normalize(vTangent + vec3(1e-6));
  float along = dot(t, toward);
  float across = sqrt(max(0.0, 1.0 - along * along));
  float view = dot(t, normalize(vView));
  float sum = along + view;
  vec3 own = mix(colour, vColour, measured);
  vec3 lit = own * (0.45 + 0.75 * across);
  lit += across * (0.28 * exp(-30.0 * (sum + 0.07) * (sum + 0.07)) + 0.5 * sqrt(own) * exp(-8.0 * (sum - 0.14) * (sum - 0.14)));
  gl_FragColor = vec4(mix(lit * vShade, vColour, 0.6 * measured), 1.0);
  #include <tonemapping_fragment>
  #include <colorspace_fragment>
}`;

export class Curves {
  readonly lines: THREE.LineSegments<THREE.BufferGeometry, THREE.ShaderMaterial>;
  private readonly segments: Uint32Array;
  private readonly tangents: Float32Array;

  /** `corners` are triangles without area, `geometry` has the positions and colours of the vertices. */
  constructor(
    private readonly positions: Float32Array,
    corners: Uint32Array,
    geometry: THREE.BufferGeometry,
    colour: string,
    isHair: boolean,
  ) {
    this.segments = new Uint32Array((2 * corners.length) / 3);
    for (let s = 0; s < this.segments.length; s += 2) {
      this.segments[s] = corners[(3 * s) / 2]!;
      this.segments[s + 1] = corners[(3 * s) / 2 + 1]!;
    }
    this.tangents = new Float32Array(positions.length);
    const lines = new THREE.BufferGeometry();
    for (const name of ["position", "color"]) lines.setAttribute(name, geometry.getAttribute(name));
    lines.setAttribute("tangent3", new THREE.BufferAttribute(this.tangents, 3).setUsage(THREE.DynamicDrawUsage));
    lines.setAttribute("shade", new THREE.BufferAttribute(shades(this.segments, positions.length / 3, isHair), 1));
    lines.setIndex(new THREE.BufferAttribute(this.segments, 1));
    const uniforms = { colour: { value: new THREE.Color(colour) }, toward: { value: TOWARD }, measured: { value: 0 } };
    const material = new THREE.ShaderMaterial({ uniforms, vertexShader: VERTEX, fragmentShader: FRAGMENT, vertexColors: true });
    this.lines = new THREE.LineSegments(lines, material);
    this.lines.frustumCulled = false;
    this.lines.castShadow = true;
    this.update();
  }

  /** After positions have changed. */
  update(): void {
    smoothTangents(this.positions, this.segments, this.tangents);
    this.lines.geometry.getAttribute("tangent3").needsUpdate = true;
  }

  paint(colouring: Colouring): void {
    const { material } = this.lines;
    material.uniforms.measured!.value = colouring === "none" ? 0 : 1;
    // Colours that are compared with a scale are shown as they are.
    material.toneMapped = colouring === "none";
    material.needsUpdate = true;
  }

  dispose(): void {
    this.lines.geometry.dispose();
    this.lines.material.dispose();
  }
}

/** Brightness of hair at its roots, where other strands shade it, and the part of a strand on which it grows. */
const ROOT = 0.5;
const GROWS = 0.3;

/** Factor on the light of each vertex: strands differ a little, so that neighbours can be told apart. */
function shades(segments: Uint32Array, vertices: number, isHair: boolean): Float32Array {
  const shade = new Float32Array(vertices).fill(1);
  for (let from = 0, to = 0, strand = 0; from < segments.length; from = to, strand++) {
    for (to = from + 2; to < segments.length && segments[to] === segments[to - 1]; ) to += 2;
    const noise = (Math.sin(strand * 12.9898) * 43758.5453) % 1;
    const count = (to - from) / 2;
    for (let k = 0; k <= count; k++) {
      const vertex = segments[from + 2 * Math.min(k, count - 1) + (k === count ? 1 : 0)]!;
      const deep = isHair ? Math.min(1, ROOT + ((1 - ROOT) * k) / (GROWS * count)) : 1;
      shade[vertex] = (1 + 0.18 * noise) * deep;
    }
  }
  return shade;
}
