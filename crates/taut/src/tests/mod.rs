//! Tests of the engine that look inside it: kernels against their formulas, solvers against each other, the
//! figures of the papers. What a user of the crate sees is tested from outside, in `tests/all`.

mod acceptance_faithful;
mod alone;
mod anisotropic;
mod attachments;
mod bend;
mod bending;
mod clock;
mod collide;
mod contact;
mod contact_acceptance;
mod contact_weights;
mod developable;
mod edge_model;
mod fabric;
mod fit;
mod forces;
mod give_way;
mod hair;
mod hair_tearing;
mod hanging_sheet;
mod hierarchy;
mod implicit;
mod inserted_pins;
mod irregular;
mod levels;
mod long_steps;
mod nearest;
mod new_element;
mod new_term;
mod obstacles;
mod octaves;
mod paper_figure_13;
mod paper_figure_13_solid;
mod paper_figure_14;
mod paper_figure_9;
mod pbd;
mod pins;
mod pressure;
mod projection;
mod projection_tetrahedron;
mod rigid;
mod robust;
mod same_bits;
mod seams;
mod solid_levels;
mod solid_motion;
mod solid_reference;
mod solid_sweeps;
mod solids;
mod springs;
mod squeezed;
pub(crate) mod strips;
mod stuffing;
mod tangled;
mod tearing;
mod tetrahedral_levels;
mod tetrahedral_levels_compared;
mod velocity_filter;
mod volume;

/// Cloth about as stiff as polyester, but the same in all directions.
pub(crate) fn alike() -> crate::Material {
    crate::Material {
        stretch: 107.2.into(),
        poisson: 0.3,
        bend: 18.9e-6.into(),
        ..crate::Material::default()
    }
}
