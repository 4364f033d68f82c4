// Markers over the view: pins, grips, and the point that a press would grip.

import * as THREE from "three";

const PIN = "#1f7a8c";
const HELD = "#d9572b";
const MOST_PINS = 4096;

export interface Held {
  at: THREE.Vector3;
  target: THREE.Vector3;
}

export class Marks {
  readonly group = new THREE.Group();
  private readonly ball = new THREE.SphereGeometry(1, 16, 12);
  private readonly pins = new THREE.InstancedMesh(this.ball, flat(PIN), MOST_PINS);
  private readonly hover = new THREE.Mesh(this.ball, flat(HELD, 0.55));
  private readonly held = new THREE.Group();
  private readonly heldInk = flat(HELD);
  private readonly lineInk = new THREE.LineBasicMaterial({ color: HELD, toneMapped: false, depthTest: false, transparent: true });
  private radius = 0.01;

  constructor() {
    this.pins.count = 0;
    this.pins.frustumCulled = false;
    this.hover.visible = false;
    this.hover.renderOrder = 3;
    this.group.add(this.pins, this.hover, this.held);
  }

  /** Radius of the marks [m]. */
  resize(size: number): void {
    this.radius = 0.009 * size;
  }

  showPins(points: readonly THREE.Vector3[]): void {
    const matrix = new THREE.Matrix4();
    this.pins.count = Math.min(points.length, MOST_PINS);
    const scale = new THREE.Vector3().setScalar(this.radius * (points.length > 200 ? 0.5 : 1));
    for (let k = 0; k < this.pins.count; k++) {
      this.pins.setMatrixAt(k, matrix.compose(points[k]!, new THREE.Quaternion(), scale));
    }
    this.pins.instanceMatrix.needsUpdate = true;
  }

  showHover(point: THREE.Vector3 | null): void {
    this.hover.visible = point !== null;
    if (point) this.hover.position.copy(point);
    this.hover.scale.setScalar(0.8 * this.radius);
  }

  /** A ball at the target of each grip, and a line to the gripped point. */
  showHeld(grips: readonly Held[]): void {
    while (this.held.children.length > grips.length) {
      const pair = this.held.children[this.held.children.length - 1]!;
      (pair.children[1] as THREE.Line).geometry.dispose();
      this.held.remove(pair);
    }
    grips.forEach(({ at, target }, k) => {
      let pair = this.held.children[k];
      if (!pair) {
        pair = new THREE.Group();
        const line = new THREE.Line(new THREE.BufferGeometry(), this.lineInk);
        line.geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(6), 3));
        line.frustumCulled = false;
        line.renderOrder = 3;
        pair.add(new THREE.Mesh(this.ball, this.heldInk), line);
        this.held.add(pair);
      }
      const [ball, line] = pair.children as [THREE.Mesh, THREE.Line];
      ball.position.copy(target);
      ball.scale.setScalar(this.radius);
      const ends = line.geometry.getAttribute("position") as THREE.BufferAttribute;
      ends.setXYZ(0, at.x, at.y, at.z).setXYZ(1, target.x, target.y, target.z);
      ends.needsUpdate = true;
    });
  }
}

function flat(color: string, opacity = 1): THREE.MeshBasicMaterial {
  const seeThrough = opacity < 1;
  return new THREE.MeshBasicMaterial({ color, toneMapped: false, transparent: seeThrough, opacity, depthTest: !seeThrough });
}
