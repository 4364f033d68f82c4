// Geometry of triangle meshes and curves on plain arrays: smooth normals, edges, tangents, and the first triangle or segment that a ray
// hits.

/** Normals of the vertices, weighted by the area of the triangles around them; into `normals`. */
export function smoothNormals(positions: Float32Array, corners: Uint32Array, normals: Float32Array): void {
  normals.fill(0);
  for (let t = 0; t < corners.length; t += 3) {
    const a = 3 * corners[t]!;
    const b = 3 * corners[t + 1]!;
    const c = 3 * corners[t + 2]!;
    const ax = positions[a]!;
    const ay = positions[a + 1]!;
    const az = positions[a + 2]!;
    const ux = positions[b]! - ax;
    const uy = positions[b + 1]! - ay;
    const uz = positions[b + 2]! - az;
    const vx = positions[c]! - ax;
    const vy = positions[c + 1]! - ay;
    const vz = positions[c + 2]! - az;
    const nx = uy * vz - uz * vy;
    const ny = uz * vx - ux * vz;
    const nz = ux * vy - uy * vx;
    normals[a]! += nx;
    normals[a + 1]! += ny;
    normals[a + 2]! += nz;
    normals[b]! += nx;
    normals[b + 1]! += ny;
    normals[b + 2]! += nz;
    normals[c]! += nx;
    normals[c + 1]! += ny;
    normals[c + 2]! += nz;
  }
  for (let k = 0; k < normals.length; k += 3) {
    const x = normals[k]!;
    const y = normals[k + 1]!;
    const z = normals[k + 2]!;
    const length = Math.sqrt(x * x + y * y + z * z);
    const scale = length > 0 ? 1 / length : 0;
    normals[k] = x * scale;
    normals[k + 1] = length > 0 ? y * scale : 1;
    normals[k + 2] = z * scale;
  }
}

/** Pairs of vertices, each edge once. */
export function edgesOf(corners: Uint32Array): Uint32Array {
  const keys = new Float64Array(corners.length);
  for (let t = 0; t < corners.length; t += 3) {
    for (let k = 0; k < 3; k++) {
      const a = corners[t + k]!;
      const b = corners[t + ((k + 1) % 3)]!;
      keys[t + k] = Math.min(a, b) * 0x100000000 + Math.max(a, b);
    }
  }
  keys.sort();
  const edges = new Uint32Array(2 * keys.length);
  let count = 0;
  for (let k = 0; k < keys.length; k++) {
    const key = keys[k]!;
    if (k > 0 && key === keys[k - 1]) continue;
    edges[count++] = Math.floor(key / 0x100000000);
    edges[count++] = key % 0x100000000;
  }
  return edges.slice(0, count);
}

export interface Hit {
  triangle: number;
  /** Barycentric coordinates of the hit. */
  weights: [number, number, number];
  distance: number;
}

/** The first triangle that a ray hits from either side, nearer than `within`. Brute force: 40 000 triangles take about a millisecond. */
export function firstHit(
  positions: Float32Array, corners: Uint32Array, origin: readonly number[], direction: readonly number[], within: number,
): Hit | null {
  const ox = origin[0]!;
  const oy = origin[1]!;
  const oz = origin[2]!;
  const dx = direction[0]!;
  const dy = direction[1]!;
  const dz = direction[2]!;
  let nearest = within;
  let found = -1;
  let foundU = 0;
  let foundV = 0;
  for (let t = 0; t < corners.length; t += 3) {
    const a = 3 * corners[t]!;
    const b = 3 * corners[t + 1]!;
    const c = 3 * corners[t + 2]!;
    const ax = positions[a]!;
    const ay = positions[a + 1]!;
    const az = positions[a + 2]!;
    const ux = positions[b]! - ax;
    const uy = positions[b + 1]! - ay;
    const uz = positions[b + 2]! - az;
    const vx = positions[c]! - ax;
    const vy = positions[c + 1]! - ay;
    const vz = positions[c + 2]! - az;
    // Möller and Trumbore, with the division deferred until the ray is known to be inside.
    const px = dy * vz - dz * vy;
    const py = dz * vx - dx * vz;
    const pz = dx * vy - dy * vx;
    const determinant = ux * px + uy * py + uz * pz;
    const sign = determinant < 0 ? -1 : 1;
    const size = determinant * sign;
    const sx = ox - ax;
    const sy = oy - ay;
    const sz = oz - az;
    const u = (sx * px + sy * py + sz * pz) * sign;
    if (u < 0 || u > size || size === 0) continue;
    const qx = sy * uz - sz * uy;
    const qy = sz * ux - sx * uz;
    const qz = sx * uy - sy * ux;
    const v = (dx * qx + dy * qy + dz * qz) * sign;
    if (v < 0 || u + v > size) continue;
    const distance = ((vx * qx + vy * qy + vz * qz) * sign) / size;
    if (distance <= 0 || distance >= nearest) continue;
    nearest = distance;
    found = t / 3;
    foundU = u / size;
    foundV = v / size;
  }
  return found < 0 ? null : { triangle: found, weights: [1 - foundU - foundV, foundU, foundV], distance: nearest };
}

/** Whether triangles are segments of curves: the second corner of each is also the third. */
export function areSegments(corners: Uint32Array): boolean {
  for (let t = 0; t < corners.length; t += 3) {
    if (corners[t + 1] !== corners[t + 2]) return false;
  }
  return corners.length > 0;
}

/** Directions of curves at their vertices, of unit length; into `tangents`. Segments that meet head to head do not cancel. */
export function smoothTangents(positions: Float32Array, segments: Uint32Array, tangents: Float32Array): void {
  tangents.fill(0);
  for (let s = 0; s < segments.length; s += 2) {
    const a = 3 * segments[s]!;
    const b = 3 * segments[s + 1]!;
    const dx = positions[b]! - positions[a]!;
    const dy = positions[b + 1]! - positions[a + 1]!;
    const dz = positions[b + 2]! - positions[a + 2]!;
    addAligned(tangents, a, dx, dy, dz);
    addAligned(tangents, b, dx, dy, dz);
  }
  for (let k = 0; k < tangents.length; k += 3) {
    const x = tangents[k]!;
    const y = tangents[k + 1]!;
    const z = tangents[k + 2]!;
    const length = Math.sqrt(x * x + y * y + z * z);
    const scale = length > 0 ? 1 / length : 0;
    tangents[k] = x * scale;
    tangents[k + 1] = y * scale;
    tangents[k + 2] = z * scale;
  }
}

function addAligned(tangents: Float32Array, v: number, dx: number, dy: number, dz: number): void {
  const x = tangents[v]!;
  const y = tangents[v + 1]!;
  const z = tangents[v + 2]!;
  const sign = x * dx + y * dy + z * dz < 0 ? -1 : 1;
  tangents[v] = x + sign * dx;
  tangents[v + 1] = y + sign * dy;
  tangents[v + 2] = z + sign * dz;
}

/** How much further away a segment may be than one at the edge of the pointer's reach and still be picked, over its distance. */
const PREFERENCE = 0.05;

/**
 * The segment of curves that a ray passes, nearer than `within`, at a distance of at most `slope` times that from the origin: the nearest
 * of those that it passes closely. The direction has unit length. Weights are those of the segment's corners as a triangle.
 */
export function nearestSegment(
  positions: Float32Array, corners: Uint32Array, origin: readonly number[], direction: readonly number[], slope: number, within: number,
): Hit | null {
  const [ox, oy, oz] = origin as [number, number, number];
  const [dx, dy, dz] = direction as [number, number, number];
  let best = Infinity;
  let found: Hit | null = null;
  for (let t = 0; t < corners.length; t += 3) {
    const a = 3 * corners[t]!;
    const b = 3 * corners[t + 1]!;
    const px = positions[a]! - ox;
    const py = positions[a + 1]! - oy;
    const pz = positions[a + 2]! - oz;
    const ux = positions[b]! - positions[a]!;
    const uy = positions[b + 1]! - positions[a + 1]!;
    const uz = positions[b + 2]! - positions[a + 2]!;
    // The closest points of the ray's line and the segment.
    const uu = ux * ux + uy * uy + uz * uz;
    const ud = ux * dx + uy * dy + uz * dz;
    const up = ux * px + uy * py + uz * pz;
    const pd = px * dx + py * dy + pz * dz;
    const across = uu - ud * ud;
    const share = across > 1e-12 * uu ? Math.min(1, Math.max(0, (ud * pd - up) / across)) : 0;
    const distance = pd + share * ud;
    if (distance <= 0 || distance >= within) continue;
    const ax = px + share * ux - distance * dx;
    const ay = py + share * uy - distance * dy;
    const az = pz + share * uz - distance * dz;
    const ratio = Math.sqrt(ax * ax + ay * ay + az * az) / (slope * distance);
    if (ratio > 1) continue;
    const cost = distance * (1 + PREFERENCE * ratio);
    if (cost >= best) continue;
    best = cost;
    found = { triangle: t / 3, weights: [1 - share, share, 0], distance };
  }
  return found;
}
