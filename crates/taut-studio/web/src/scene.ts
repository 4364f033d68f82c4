// The view: camera, studio light, floor, obstacles, and when an image is rendered.

import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { toCreasedNormals } from "three/addons/utils/BufferGeometryUtils.js";
import { obstacleMaterial, weaveTexture } from "./fabric";
import { Floor } from "./floor";
import type { Frame, LightInfo, Mesh, ObstacleInfo, SceneInfo } from "./protocol";
import { Governor, TIERS, isSoftware, type Tier } from "./quality";

const THEMES = {
  light: { background: "#dedbd4", disc: "#f1efea", line: "#b9b4a8", shadow: 0.34, sky: "#ffffff", ground: "#cfc6b8", hemi: 1.0 },
  dark: { background: "#15171b", disc: "#33363d", line: "#575b64", shadow: 0.62, sky: "#dfe6f2", ground: "#55504a", hemi: 0.7 },
};

/** Time without changes after which a sharp image is rendered [ms]. */
const STILL = 600;
/** Distance from bodies within which obstacles are framed initially, in scene sizes. */
const NEAR = 0.35;
/** Visible shape of a lamp. */
const BULB = new THREE.SphereGeometry(1, 12, 8);
/** Initial margin, as a factor on the distance: cloth swings. */
const MARGIN = 1.15;

export class Stage {
  readonly renderer: THREE.WebGLRenderer;
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(32, 1, 0.01, 100);
  readonly controls: OrbitControls;
  readonly governor: Governor;
  readonly weave = weaveTexture();
  /** Largest width of the displayed content [m]. */
  size = 1;
  /** Number of rendered images. */
  drawn = 0;
  /** Called when the quality tier has changed. */
  onTier: (tier: Tier) => void = () => {};
  private readonly floor = new Floor();
  private readonly key = new THREE.DirectionalLight("#fff4e6", 2.7);
  private readonly fill = new THREE.DirectionalLight("#dfe9ff", 0.35);
  private readonly rim = new THREE.DirectionalLight("#ffffff", 0.8);
  private readonly sky = new THREE.HemisphereLight("#ffffff", "#888888", 1);
  private readonly lamps = new THREE.Group();
  private readonly centre = new THREE.Vector3();
  private readonly fitted = new THREE.Box3();
  /** Bounds of the content, down to the floor. */
  private readonly seen = new THREE.Box3();
  private right = 0;
  /** How far bodies may hang down [m]. */
  private hanging = 1;
  /** Initial height of the floor [m]. */
  private ground = 0;
  /** Time of the last change [ms], and whether the image is a sharp one, as nothing moves. */
  private changed = 0;
  private sharp = false;
  /** Whether rendering is done in software. */
  readonly software: boolean;
  private readonly smoothed: boolean;
  private obstacles: THREE.Mesh[] = [];
  /** Kind of each obstacle. */
  private kinds: ObstacleInfo["kind"][] = [];
  private floorIsReal = false;
  /** A scene was built, and no frame of it has arrived yet; whether the camera must be placed then. */
  private settling: { look: boolean } | null = null;
  private busy = false;
  private dirty = true;
  private theme: keyof typeof THEMES = "light";

  constructor(readonly canvas: HTMLCanvasElement) {
    const probe = document.createElement("canvas").getContext("webgl2");
    if (!probe) throw new Error("This browser cannot draw in 3D (WebGL 2 is missing or switched off).");
    this.software = isSoftware(probe);
    probe.getExtension("WEBGL_lose_context")?.loseContext();
    this.smoothed = !this.software;
    this.governor = new Governor(this.software ? 0 : 2);
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: this.smoothed, powerPreference: "high-performance" });
    this.renderer.toneMapping = THREE.ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 0.95;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.autoUpdate = false;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.key.castShadow = true;
    this.key.shadow.radius = 4;
    this.scene.add(this.floor.mesh, this.key, this.key.target, this.fill, this.rim, this.sky, this.lamps);
    this.scene.environment = studioLight(this.renderer);

    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.screenSpacePanning = true;
    this.controls.addEventListener("change", () => this.invalidate());
    new ResizeObserver(() => this.invalidate()).observe(canvas);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", () => this.setTheme(scheme.matches ? "dark" : "light"));
    this.setTheme(scheme.matches ? "dark" : "light");
    this.setTier();
  }

  get tier(): Tier {
    return TIERS[this.governor.tier]!;
  }

  /** Something has changed: the next `draw` renders. */
  invalidate(): void {
    this.dirty = true;
    this.changed = performance.now();
    this.sharp = false;
  }

  /** Whether the GPU is still busy with the last image; another one would only be queued. */
  get drawing(): boolean {
    return this.busy;
  }

  /** Renders if something has changed; true if it did. */
  draw(): boolean {
    // Also continues the camera damping, which calls `invalidate`.
    this.controls.update();
    // Where images are coarse because rendering is slow, a still scene gets a sharp one.
    if (!this.dirty && !this.sharp && performance.now() - this.changed > STILL) this.dirty = this.sharp = true;
    if (!this.dirty || this.busy) return false;
    this.dirty = false;
    this.fitCanvas();
    // The lowest tier updates shadows in every second image.
    this.renderer.shadowMap.needsUpdate = this.tier.softShadows || this.sharp || this.drawn % 2 === 0;
    this.renderer.render(this.scene, this.camera);
    this.drawn += 1;
    return true;
  }

  /** Calls back when the GPU has finished its work [duration in ms]. */
  whenDone(done: (milliseconds: number) => void): void {
    const gl = this.renderer.getContext() as WebGL2RenderingContext;
    const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    const begun = performance.now();
    if (!fence) return;
    this.busy = true;
    gl.flush();
    const look = () => {
      const status = gl.clientWaitSync(fence, 0, 0);
      if (status === gl.TIMEOUT_EXPIRED && performance.now() - begun < 2000) {
        setTimeout(look, 1);
        return;
      }
      gl.deleteSync(fence);
      this.busy = false;
      done(performance.now() - begun);
    };
    setTimeout(look, 0);
  }

  /** Records the time of an image, and lowers the tier if it is too long. */
  took(milliseconds: number): void {
    if (!this.sharp && this.governor.took(milliseconds)) this.setTier();
  }

  chooseTier(name: Tier["name"] | "auto"): void {
    const index = TIERS.findIndex((tier) => tier.name === name);
    this.governor.choose(index < 0 ? null : index);
    this.setTier();
  }

  private setTier(): void {
    const tier = this.tier;
    this.renderer.shadowMap.type = tier.softShadows ? THREE.PCFShadowMap : THREE.BasicShadowMap;
    this.floor.mesh.material.needsUpdate = true;
    this.floor.fine(tier.softShadows);
    this.fill.visible = this.rim.visible = tier.softShadows;
    // Towards the light, by a few pixels of the map. A bias along normals would push the back of cloth into its own shadow.
    this.key.shadow.bias = tier.softShadows ? -0.002 : -0.006;
    this.key.shadow.mapSize.setScalar(tier.shadow);
    this.key.shadow.map?.dispose();
    this.key.shadow.map = null;
    this.paintSky();
    for (const mesh of this.obstacles) {
      (mesh.material as THREE.Material).dispose();
      mesh.material = obstacleMaterial(tier);
    }
    this.onTier(tier);
    this.invalidate();
  }

  private paintSky(): void {
    const theme = THEMES[this.theme];
    const fine = this.tier.fine;
    this.sky.color.set(theme.sky);
    this.sky.groundColor.set(theme.ground);
    // A lamp costs more than environment light, which replaces two of them in the lowest tier.
    this.sky.intensity = theme.hemi * (fine ? 0.25 : this.tier.softShadows ? 0.8 : 1);
    this.scene.environmentIntensity = theme.hemi * 0.3;
  }

  private setTheme(name: keyof typeof THEMES): void {
    this.theme = name;
    const theme = THEMES[name];
    this.scene.background = new THREE.Color(theme.background);
    this.floor.colour(theme);
    this.paintSky();
    this.invalidate();
  }

  private fitCanvas(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const own = this.tier.ratio(devicePixelRatio, this.smoothed);
    const ratio = this.sharp ? Math.max(own, Math.min(devicePixelRatio, 2) * (this.smoothed ? 1 : 1.5)) : own;
    const wide = Math.max(1, Math.floor(width * ratio));
    const high = Math.max(1, Math.floor(height * ratio));
    if (this.canvas.width === wide && this.canvas.height === high) return;
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(1, height);
    this.camera.updateProjectionMatrix();
  }

  /** Sets up for a scene: obstacles, lamps, floor; the camera too if `look`. */
  build(info: SceneInfo, obstacles: readonly Mesh[], look: boolean): void {
    for (const mesh of this.obstacles) {
      mesh.removeFromParent();
      mesh.geometry.dispose();
      (mesh.material as THREE.Material).dispose();
    }
    this.obstacles = obstacles.map((mesh) => this.obstacle(mesh));
    const box = new THREE.Box3(new THREE.Vector3(...info.bounds.min), new THREE.Vector3(...info.bounds.max));
    if (box.isEmpty()) box.set(new THREE.Vector3(-0.5, 0, -0.5), new THREE.Vector3(0.5, 1, 0.5));
    const extent = box.getSize(new THREE.Vector3());
    this.size = Math.max(extent.x, extent.y, extent.z, 1e-3);
    this.kinds = info.obstacles.map((obstacle) => obstacle.kind);
    this.fitted.copy(box);
    this.hanging = this.size;
    this.settling = { look };
    this.settle(null, info.lights);
  }

  /** Places floor, lights and camera, once the floor's height is known. */
  private settle(height: number | null, lamps: readonly LightInfo[] | null): void {
    const box = this.fitted;
    this.floorIsReal = height !== null;
    // Cloth that starts flat swings down as far as it is wide.
    const below = Math.min(box.min.y - 0.02 * this.size, box.max.y - 1.1 * this.hanging);
    this.seen.copy(box);
    this.seen.min.y = Math.min(box.min.y, height ?? below);
    // Nearby obstacles too.
    const near = box.clone().expandByScalar(NEAR * this.size);
    for (const mesh of this.obstacles.filter((obstacle) => obstacle.visible)) {
      mesh.geometry.computeBoundingBox();
      const part = mesh.geometry.boundingBox!.clone().applyMatrix4(mesh.matrix).intersect(near);
      if (!part.isEmpty()) this.seen.union(part);
    }
    if (height !== null) this.seen.min.y = Math.max(this.seen.min.y, Math.min(height, box.min.y));
    this.seen.getCenter(this.centre);
    this.ground = height ?? below;
    this.floor.place(this.centre, this.ground, this.size);
    this.floor.mesh.visible = true;
    if (lamps) this.lamp(lamps);
    this.aimLights();
    if (this.settling?.look) this.lookAtAll();
    this.invalidate();
  }

  private obstacle(mesh: Mesh): THREE.Mesh {
    const object = new THREE.Mesh(creased(mesh.positions, mesh.corners), obstacleMaterial(this.tier));
    object.userData = { corners: mesh.corners, vertices: mesh.positions.length / 3 };
    object.matrixAutoUpdate = false;
    object.castShadow = object.receiveShadow = true;
    object.frustumCulled = false;
    // It is shown once a frame has given its pose.
    object.visible = false;
    this.scene.add(object);
    return object;
  }

  private aimLights(): void {
    const reach = 1.7 * this.size;
    const from = (light: THREE.DirectionalLight, x: number, y: number, z: number) =>
      light.position.set(x, y, z).normalize().multiplyScalar(3 * this.size).add(this.centre);
    from(this.key, -0.75, 0.95, 0.75);
    from(this.fill, 1, 0.3, 0.6);
    from(this.rim, 0.5, 0.7, -1);
    this.key.target.position.copy(this.centre);
    this.fill.target = this.rim.target = this.key.target;
    const camera = this.key.shadow.camera;
    [camera.left, camera.right, camera.bottom, camera.top] = [-reach, reach, -reach, reach];
    [camera.near, camera.far] = [0.5 * this.size, 6.5 * this.size];
    camera.updateProjectionMatrix();
  }

  /** The lamps of a scene, which replace a part of the studio's light. */
  private lamp(lamps: readonly LightInfo[]): void {
    for (const lamp of this.lamps.children) if (lamp instanceof THREE.Mesh) (lamp.material as THREE.Material).dispose();
    this.lamps.clear();
    const indoors = lamps.length > 0;
    this.key.intensity = indoors ? 1.2 : 2.7;
    // Walls and a roof would block the key light.
    for (const mesh of this.obstacles) mesh.castShadow = !indoors;
    for (const lamp of lamps) {
      const light = new THREE.PointLight(lamp.color, lamp.intensity * 0.6 * this.size ** 2 / lamps.length, 0, 2);
      light.position.set(...lamp.position);
      const bulb = new THREE.Mesh(BULB, new THREE.MeshBasicMaterial({ color: lamp.color, toneMapped: false }));
      bulb.position.copy(light.position);
      bulb.scale.setScalar(0.012 * this.size);
      this.lamps.add(light, bulb);
    }
  }

  /** Extends the content to the right by this distance [m]. */
  widen(right: number): void {
    this.right = right;
  }

  /** Frames everything. */
  lookAtAll(): void {
    const seen = this.seen.clone();
    seen.max.x += 0.84 * this.right;
    const centre = seen.getCenter(new THREE.Vector3());
    this.fitCanvas();
    const direction = new THREE.Vector3(this.right > 0 ? 0.2 : 0.55, 0.42, 1).normalize();
    const distance = MARGIN * this.distanceThatShows(seen, centre, direction);
    this.camera.position.copy(centre).addScaledVector(direction, distance);
    this.camera.near = 0.01 * this.size;
    this.camera.far = 80 * this.size;
    this.camera.updateProjectionMatrix();
    this.controls.minDistance = 0.05 * this.size;
    this.controls.maxDistance = 20 * this.size;
    this.controls.target.copy(centre);
    this.controls.update();
    this.invalidate();
  }

  /** Distance of the camera from `centre`, along `direction`, at which all of `box` is in view [m]. */
  private distanceThatShows(box: THREE.Box3, centre: THREE.Vector3, direction: THREE.Vector3): number {
    const right = new THREE.Vector3(0, 1, 0).cross(direction).normalize();
    const up = direction.clone().cross(right);
    const high = Math.tan((this.camera.fov * Math.PI) / 360);
    const corner = new THREE.Vector3();
    let distance = 0;
    for (let k = 0; k < 8; k += 1) {
      corner.set(k & 1 ? box.max.x : box.min.x, k & 2 ? box.max.y : box.min.y, k & 4 ? box.max.z : box.min.z).sub(centre);
      const across = Math.max(Math.abs(corner.dot(up)), Math.abs(corner.dot(right)) / Math.max(this.camera.aspect, 1e-3));
      distance = Math.max(distance, corner.dot(direction) + across / high);
    }
    return distance;
  }

  /** Orbits, pans or zooms the camera by keys: angles [rad], fractions of the view, factor of the distance. */
  nudge(move: { turn?: [number, number]; pan?: [number, number]; nearer?: number }): void {
    const offset = this.camera.position.clone().sub(this.controls.target);
    if (move.turn) {
      const round = new THREE.Spherical().setFromVector3(offset);
      round.theta += move.turn[0];
      round.phi = Math.min(Math.PI - 0.05, Math.max(0.05, round.phi + move.turn[1]));
      offset.setFromSpherical(round);
    }
    if (move.nearer) offset.multiplyScalar(move.nearer).clampLength(this.controls.minDistance, this.controls.maxDistance);
    if (move.pan) {
      const right = new THREE.Vector3().setFromMatrixColumn(this.camera.matrix, 0);
      const up = new THREE.Vector3().setFromMatrixColumn(this.camera.matrix, 1);
      const scale = offset.length() * Math.tan((this.camera.fov * Math.PI) / 360) * 2;
      this.controls.target.addScaledVector(right, move.pan[0] * scale).addScaledVector(up, move.pan[1] * scale);
    }
    this.camera.position.copy(this.controls.target).add(offset);
    this.controls.update();
    this.invalidate();
  }

  /** Applies the obstacle poses of a frame; `hanging` is how far bodies may hang down [m]. The floor represents the highest horizontal plane. */
  moveObstacles(matrices: readonly Float32Array[], shapes: Frame["shapes"], hanging: () => number): void {
    let height: number | null = null;
    matrices.forEach((m, k) => {
      const object = this.obstacles[k];
      if (!object || m.some((value) => !Number.isFinite(value))) return;
      const at = (i: number) => m[i]!;
      object.matrix.set(
        at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8), at(9), at(10), at(11), 0, 0, 0, 1,
      );
      const level = this.kinds[k] === "plane" && Math.abs(at(5) - 1) < 1e-5;
      if (level) height = Math.max(height ?? -Infinity, at(7));
      object.visible = !level;
    });
    for (const { obstacle, positions } of shapes ?? []) this.reshape(obstacle, positions);
    if (this.settling) {
      this.hanging = Math.min(hanging(), this.size);
      this.settle(height, null);
      this.settling = null;
    } else if (height !== null) {
      this.floor.mesh.position.y = height;
    }
  }

  private reshape(obstacle: number, positions: Float32Array): void {
    const object = this.obstacles[obstacle];
    const corners = object?.userData.corners as Uint32Array | undefined;
    if (!object || !corners || 3 * (object.userData.vertices as number) !== positions.length) return;
    object.geometry.dispose();
    object.geometry = creased(positions, corners);
  }

  /** Resets the floor to its height before something fell below it. */
  raiseFloor(): void {
    if (this.floorIsReal) return;
    this.floor.mesh.position.y = this.ground;
    this.floor.mesh.visible = true;
  }

  /** A floor that is not an obstacle moves below whatever falls through it. */
  lowerFloor(lowest: number): void {
    if (this.floorIsReal || !(lowest < this.floor.mesh.position.y - 0.01 * this.size)) return;
    const y = this.floor.mesh.position.y;
    if (lowest < this.centre.y - 6 * this.size) this.floor.mesh.visible = false;
    else this.floor.mesh.position.y = y + 0.25 * (lowest - 0.02 * this.size - y);
  }

  /** Page position of a point [CSS pixels]. */
  project(point: THREE.Vector3): { x: number; y: number } {
    const box = this.canvas.getBoundingClientRect();
    this.camera.updateMatrixWorld();
    const p = point.clone().project(this.camera);
    return { x: box.left + ((p.x + 1) / 2) * box.width, y: box.top + ((1 - p.y) / 2) * box.height };
  }

  /** The ray through a point of the page [CSS pixels]. */
  ray(x: number, y: number): THREE.Ray {
    const box = this.canvas.getBoundingClientRect();
    const at = new THREE.Vector2(((x - box.left) / box.width) * 2 - 1, 1 - ((y - box.top) / box.height) * 2);
    const caster = new THREE.Raycaster();
    this.camera.updateMatrixWorld();
    caster.setFromCamera(at, this.camera);
    return caster.ray;
  }

  /** Width of a CSS pixel at the centre of the view, over the distance. */
  pixel(): number {
    return (2 * Math.tan((0.5 * Math.PI * this.camera.fov) / 180)) / Math.max(1, this.canvas.clientHeight);
  }

  /** The current image, as a PNG file. */
  picture(): Promise<Blob | null> {
    // The GPU buffer is discarded after presentation: render again and read it in the same task.
    this.renderer.render(this.scene, this.camera);
    return new Promise((resolve) => this.canvas.toBlob(resolve, "image/png"));
  }
}

/** Smooth on round surfaces, with sharp edges elsewhere. */
function creased(positions: Float32Array, corners: Uint32Array): THREE.BufferGeometry {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
  geometry.setIndex(new THREE.BufferAttribute(corners, 1));
  return toCreasedNormals(geometry, 0.7);
}

/** Environment light, as from large soft boxes in a studio. */
function studioLight(renderer: THREE.WebGLRenderer): THREE.Texture {
  const room = new THREE.Scene();
  room.background = new THREE.Color("#5a5b5e");
  const box = (x: number, y: number, z: number, width: number, height: number, strength: number, color: string) => {
    const material = new THREE.MeshBasicMaterial({ color: new THREE.Color(color).multiplyScalar(strength), side: THREE.DoubleSide });
    const mesh = new THREE.Mesh(new THREE.PlaneGeometry(width, height), material);
    mesh.position.set(x, y, z);
    mesh.lookAt(0, 0, 0);
    room.add(mesh);
  };
  box(0, 6, 0, 8, 8, 3.2, "#ffffff");
  box(6, 3, 4, 5, 6, 5, "#fff1de");
  box(-7, 2, 2, 4, 6, 2, "#dce8ff");
  box(0, 2, -7, 9, 2, 2.5, "#ffffff");
  box(0, -5, 0, 12, 12, 0.6, "#c9bfb2");
  const generator = new THREE.PMREMGenerator(renderer);
  const texture = generator.fromScene(room, 0.05).texture;
  generator.dispose();
  room.traverse((object) => {
    if (!(object instanceof THREE.Mesh)) return;
    object.geometry.dispose();
    (object.material as THREE.Material).dispose();
  });
  return texture;
}
