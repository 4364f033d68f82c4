//! Files in, files out.

mod cache_fit;
mod mesh_animation;
mod mesh_fuzz;
mod mesh_generate;
mod mesh_gltf;
mod mesh_obj;
mod mesh_ply;
mod mesh_read;
mod mesh_samples;
mod mesh_solid;
mod mesh_stl;
mod mesh_usd;
mod output_garbage;
mod scene_bad_input;
mod scene_folder;
mod scene_fuzz;
mod scene_garments;
mod scene_overrides;
mod scene_round_trip;
mod springs;
