//! Tests of the engine that look inside it: kernels against their formulas, solvers against each other, the figures
//! of the papers. What a user of the crate sees is tested from outside, in `tests/all`.

mod acceptance_faithful;
mod anisotropic;
mod bend;
mod contact;
mod contact_acceptance;
mod edge_model;
mod fit;
mod forces;
mod hanging_sheet;
mod hierarchy;
mod irregular;
mod levels;
mod nearest;
mod new_element;
mod obstacles;
mod octaves;
mod paper_figure_12;
mod paper_figure_13;
mod paper_figure_14;
mod paper_figure_9;
mod pins;
mod projection;
mod projection_tetrahedron;
mod rigid;
mod robust;
mod same_bits;
mod seams;
mod soak;
mod solid_levels;
mod solid_sweeps;
mod solids;
mod stuffing;
mod tangled;
mod velocity_filter;
mod volume;
