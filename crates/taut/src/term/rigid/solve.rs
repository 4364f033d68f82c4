//! The unknowns of rigid bodies: the columns V E J, the matrix of all bodies' unknowns, and its solution.

use glam::{Mat3, Vec3};

use super::{RigidTerm, position};
use crate::{boundary::rigid::turned, kernel::lanes::Quad};

/// Unknowns of a body: its displacement and its rotation.
pub(super) const UNKNOWNS: usize = 6;

impl RigidTerm {
    /// Puts E J of body `b` into `r`, and its columns to 0; one cycle then makes V E J of them.
    pub fn load_columns(
        &mut self,
        b: usize,
        x: &[Quad],
        r: &mut [Quad],
        masses: &[f32],
        c: f32,
    ) -> &mut [Quad] {
        r.fill([0.0; 4]);
        let middle = self.placed[b].now.position;
        for touch in self.list.iter_mut().filter(|touch| touch.body as usize == b) {
            let i = touch.vertex as usize;
            let e = touch.weight(masses, c);
            touch.arm = position(&x[i]) - middle;
            let arm = touch.arm * e;
            r[i] = [arm.x, arm.y, arm.z, e];
        }
        self.columns[b].fill([0.0; 4]);
        &mut self.columns[b]
    }

    /// Makes the matrix of the bodies' unknowns from the columns, and its factors.
    pub fn factor(&mut self, masses: &[f32], c: f32) {
        let n = UNKNOWNS * self.placed.len();
        self.matrix.fill(0.0);
        for (b, placed) in self.placed.iter().enumerate() {
            for k in 0..3 {
                self.matrix[(UNKNOWNS * b + k) * (n + 1)] = f64::from(placed.mass);
                for j in 0..3 {
                    let at = (UNKNOWNS * b + 3 + k) * n + UNKNOWNS * b + 3 + j;
                    self.matrix[at] = f64::from(placed.inertia.col(j)[k]);
                }
            }
        }
        for touch in &self.list {
            let e = touch.weight(masses, c);
            if e <= 0.0 {
                continue;
            }
            let row = UNKNOWNS * touch.body as usize;
            for b in 0..self.placed.len() {
                let own = b == touch.body as usize;
                let [ax, ay, az, one] = self.columns[b][touch.vertex as usize];
                for k in 0..UNKNOWNS {
                    // How far unit k of body b moves the point under the vertex, less how far it moves the
                    // vertex.
                    let unit = axis(k % 3);
                    let moved = if k < 3 { unit * one } else { unit.cross(Vec3::new(ax, ay, az)) };
                    let under = match (own, k < 3) {
                        (false, _) => Vec3::ZERO,
                        (true, true) => unit,
                        (true, false) => unit.cross(touch.arm),
                    };
                    let force = e * (under - moved);
                    let torque = touch.arm.cross(force);
                    for j in 0..3 {
                        self.matrix[(row + j) * n + UNKNOWNS * b + k] += f64::from(force[j]);
                        self.matrix[(row + 3 + j) * n + UNKNOWNS * b + k] += f64::from(torque[j]);
                    }
                }
            }
        }
        // The cycle is not quite symmetric; nor is it quite an inverse, so that a pivot may come out smaller
        // than the mass alone, which it never is.
        for i in 0..n {
            for j in 0..i {
                let mean = 0.5 * (self.matrix[i * n + j] + self.matrix[j * n + i]);
                (self.matrix[i * n + j], self.matrix[j * n + i]) = (mean, mean);
            }
        }
        for i in 0..n {
            let placed = &self.placed[i / UNKNOWNS];
            let k = i % UNKNOWNS;
            let own = if k < 3 { placed.mass } else { smallest(&placed.inertia) };
            let pivot = self.matrix[i * n + i].max(0.5 * f64::from(own));
            self.matrix[i * n + i] = pivot;
            for j in i + 1..n {
                let factor = self.matrix[j * n + i] / pivot;
                self.matrix[j * n + i] = factor;
                for k in i + 1..n {
                    self.matrix[j * n + k] -= factor * self.matrix[i * n + k];
                }
            }
        }
        self.stale = false;
    }

    /// After the cycle has moved `x`: moves the bodies, and `x` with them. Gives how far the farthest body
    /// went \[m\].
    pub fn solve(&mut self, x: &mut [Quad], masses: &[f32], c: f32) -> f32 {
        let n = UNKNOWNS * self.placed.len();
        for (b, placed) in self.placed.iter().enumerate() {
            for k in 0..3 {
                self.unknowns[UNKNOWNS * b + k] = f64::from(placed.pull[0][k]);
                self.unknowns[UNKNOWNS * b + 3 + k] = f64::from(placed.pull[1][k]);
            }
        }
        for touch in &self.list {
            let e = touch.weight(masses, c);
            if e > 0.0 {
                let force = e * (position(&x[touch.vertex as usize]) - touch.before);
                let torque = touch.arm.cross(force);
                let row = UNKNOWNS * touch.body as usize;
                for k in 0..3 {
                    self.unknowns[row + k] += f64::from(force[k]);
                    self.unknowns[row + 3 + k] += f64::from(torque[k]);
                }
            }
        }
        for i in 0..n {
            for j in 0..i {
                self.unknowns[i] -= self.matrix[i * n + j] * self.unknowns[j];
            }
        }
        for i in (0..n).rev() {
            for j in i + 1..n {
                self.unknowns[i] -= self.matrix[i * n + j] * self.unknowns[j];
            }
            self.unknowns[i] /= self.matrix[i * n + i];
        }
        let mut farthest = 0.0f32;
        for (b, placed) in self.placed.iter_mut().enumerate() {
            let at = |k: usize| self.unknowns[UNKNOWNS * b + k] as f32;
            let (shift, turn) = (Vec3::new(at(0), at(1), at(2)), Vec3::new(at(3), at(4), at(5)));
            placed.now.position += shift;
            placed.now.rotation = turned(placed.now.rotation, turn);
            farthest = farthest.max(shift.length());
            for (x, column) in x.iter_mut().zip(&self.columns[b]) {
                let [ax, ay, az, one] = *column;
                let moved = shift * one + turn.cross(Vec3::new(ax, ay, az));
                for k in 0..3 {
                    x[k] += moved[k];
                }
            }
        }
        farthest
    }
}

fn axis(k: usize) -> Vec3 {
    let mut unit = Vec3::ZERO;
    unit[k] = 1.0;
    unit
}

/// The smallest entry of a diagonal.
fn smallest(matrix: &Mat3) -> f32 {
    matrix.x_axis.x.min(matrix.y_axis.y).min(matrix.z_axis.z)
}
