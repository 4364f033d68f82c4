//! Clips are read back by other readers than what wrote them, and hold the pictures that went in.

use std::{fs, path::Path};

use taut_render::{
    Picture, draw,
    encode::{Clip, EncodeError},
};

/// Something that moves before a background that does not.
fn frame(width: usize, height: usize, number: usize) -> Picture {
    let mut picture = Picture::new(width, height, [255; 4]);
    let time = number as f32 * 0.2;
    let radius = height as f32 * 0.35;
    let center = [width as f32 * (0.5 + 0.2 * time.sin()), height as f32 * 0.45];
    for y in 0..height {
        for x in 0..width {
            let [u, v] = [(x as f32 - center[0]) / radius, (y as f32 - center[1]) / radius];
            let paper = 240.0 - 40.0 * y as f32 / height as f32;
            let shade = 140.0 + 60.0 * (4.0 * u + (3.0 * v + time).sin()).sin();
            let inside = u * u + v * v < 1.0;
            let color = if inside { [0.5 * shade, 0.7 * shade, shade] } else { [paper, paper, paper] };
            let [r, g, b] = color.map(|c| c.round() as u8);
            picture.pixels_mut()[y * width + x] = [r, g, b, 255];
        }
    }
    let words = format!("frame {number}");
    draw::text(&mut picture, 6.0, height as f32 - 6.0, 10.0, [20, 20, 20, 255], &words);
    picture
}

/// Peak signal-to-noise ratio over red, green and blue \[dB\]; the second picture may be larger.
fn psnr(picture: &Picture, rgb: impl Fn(usize, usize) -> [u8; 3]) -> f64 {
    let mut squares = 0.0;
    for y in 0..picture.height() {
        for x in 0..picture.width() {
            let (a, b) = (picture.get(x, y), rgb(x, y));
            squares += (0..3).map(|i| f64::from(a[i].abs_diff(b[i])).powi(2)).sum::<f64>();
        }
    }
    let mean = squares / (3 * picture.pixels().len()) as f64;
    10.0 * (255.0 * 255.0 / mean.max(1e-9)).log10()
}

fn write(path: &Path, frames: &[Picture], rate: f32) {
    let mut clip = Clip::create(path, frames[0].width(), frames[0].height(), rate).unwrap();
    frames.iter().for_each(|frame| clip.add(frame).unwrap());
    clip.finish().unwrap();
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing but the clip is left");
}

#[test]
fn gif_shows_the_pictures_and_stands_still_where_they_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.gif");
    let frames: Vec<Picture> = (0..20).map(|i| frame(160, 121, i)).collect();
    write(&path, &frames, 30.0);
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut reader = options.read_info(fs::File::open(&path).unwrap()).unwrap();
    assert_eq!(reader.repeat(), gif::Repeat::Infinite);
    let mut screen = vec![[0u8; 4]; 160 * 121];
    let (mut time, mut count) = (0, 0);
    while let Some(part) = reader.read_next_frame().unwrap() {
        let (left, top, width) = (part.left as usize, part.top as usize, part.width as usize);
        assert!(count == 0 || part.height < 121, "the background does not change");
        for (i, pixel) in part.buffer.as_chunks::<4>().0.iter().enumerate().filter(|(_, p)| p[3] > 0) {
            screen[(top + i / width) * 160 + left + i % width] = *pixel;
        }
        let found = psnr(&frames[count], |x, y| {
            let [r, g, b, _] = screen[y * 160 + x];
            [r, g, b]
        });
        assert!(found > 35.0, "frame {count}: {found} dB");
        time += u32::from(part.delay);
        count += 1;
    }
    assert_eq!((count, time), (20, 67));
}

#[test]
fn gif_leaves_out_frames_that_browsers_would_slow_down() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.GIF");
    let frames: Vec<Picture> = (0..120).map(|i| frame(32, 24, i)).collect();
    write(&path, &frames, 120.0);
    let mut reader = gif::DecodeOptions::new().read_info(fs::File::open(&path).unwrap()).unwrap();
    let mut time = 0;
    while let Some(part) = reader.read_next_frame().unwrap() {
        assert!(part.delay >= 2);
        time += part.delay;
    }
    assert_eq!(time, 100);
}

#[test]
fn apng_holds_the_very_pixels() {
    for name in ["a.apng", "a.png"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let mut frames: Vec<Picture> = (0..7).map(|i| frame(90, 61, i)).collect();
        frames.push(frames[6].clone());
        // Translucent pixels cannot be laid over what is there.
        let mut glass = frames[6].clone();
        glass.pixels_mut()[90 * 30 + 40] = [10, 20, 30, 100];
        frames.push(glass);
        frames.push(frame(90, 61, 9));
        write(&path, &frames, 29.97);

        let file = std::io::BufReader::new(fs::File::open(&path).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let control = reader.info().animation_control().unwrap();
        assert_eq!((control.num_frames, control.num_plays), (10, 0));
        let mut screen = vec![[0u8; 4]; 90 * 61];
        let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
        for (number, frame) in frames.iter().enumerate() {
            reader.next_frame(&mut buffer).unwrap();
            let control = *reader.info().frame_control().unwrap();
            assert_eq!((control.delay_num, control.delay_den), (1001, 30_000));
            let (left, top) = (control.x_offset as usize, control.y_offset as usize);
            let (width, height) = (control.width as usize, control.height as usize);
            for (i, pixel) in buffer.as_chunks::<4>().0.iter().take(width * height).enumerate() {
                if control.blend_op == png::BlendOp::Source || pixel[3] > 0 {
                    screen[(top + i / width) * 90 + left + i % width] = *pixel;
                }
            }
            assert!(screen == frame.pixels(), "{name}, frame {number}");
        }
    }
}

#[test]
fn a_clip_that_is_not_finished_leaves_nothing_and_keeps_what_was_there() {
    for name in ["a.gif", "a.apng", "a.mp4"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        if Clip::check_extension(&path).is_err() {
            continue;
        }
        fs::write(&path, "old").unwrap();
        let mut clip = Clip::create(&path, 32, 32, 24.0).unwrap();
        clip.add(&frame(32, 32, 0)).unwrap();
        drop(clip);
        let empty = Clip::create(&path, 32, 32, 24.0).unwrap().finish().unwrap_err();
        assert!(matches!(empty, EncodeError::Empty { .. }), "{empty}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{name}");
    }
}

#[test]
fn what_cannot_be_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |name: &str, size: [usize; 2], rate: f32| {
        Clip::create(&folder.path().join(name), size[0], size[1], rate).unwrap_err().to_string()
    };
    for name in ["a.avi", "a", ".gif", "a.mp4x"] {
        let message = refused(name, [32, 32], 30.0);
        assert!(message.contains(".mp4, .gif, .apng or .png"), "{message}");
    }
    assert!(refused("a.gif", [0, 32], 30.0).contains("0 × 32"));
    assert!(refused("a.gif", [70_000, 32], 30.0).contains("65535 × 65535"));
    for rate in [0.0, -1.0, f32::NAN, 1e9] {
        assert!(refused("a.gif", [32, 32], rate).contains("frames per second"));
    }
    let missing = refused("no/where/a.gif", [32, 32], 30.0);
    assert!(missing.contains("could not write") && missing.contains("a.gif"), "{missing}");

    let mut clip = Clip::create(&folder.path().join("a.apng"), 32, 32, 30.0).unwrap();
    clip.add(&frame(32, 32, 0)).unwrap();
    let message = clip.add(&frame(32, 30, 1)).unwrap_err().to_string();
    assert!(message.contains("frame 1") && message.contains("32 × 30"), "{message}");
    drop(clip);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[cfg(not(feature = "h264"))]
#[test]
fn without_h264_mp4_is_refused_with_what_to_use() {
    let message = Clip::create(Path::new("a.mp4"), 32, 32, 30.0).unwrap_err().to_string();
    assert!(message.contains(".gif") && message.contains(".apng"), "{message}");
}

#[cfg(feature = "h264")]
mod mp4 {
    use openh264::{decoder::Decoder, formats::YUVSource};

    use super::*;

    /// A box: its name and what is in it.
    struct Part<'a> {
        name: [u8; 4],
        at: usize,
        inside: &'a [u8],
    }

    fn parts(bytes: &[u8]) -> Vec<Part<'_>> {
        let (mut parts, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            let length = word(bytes, at) as usize;
            assert!(length >= 8 && at + length <= bytes.len(), "a box of {length} bytes at {at}");
            let name = bytes[at + 4..at + 8].try_into().unwrap();
            parts.push(Part { name, at: at + 8, inside: &bytes[at + 8..at + length] });
            at += length;
        }
        parts
    }

    fn find<'a>(bytes: &'a [u8], path: &[&[u8; 4]]) -> &'a [u8] {
        path.iter().fold(bytes, |inside, name| {
            let found: Vec<_> = parts(inside).into_iter().filter(|p| p.name == **name).collect();
            assert_eq!(found.len(), 1, "{}", String::from_utf8_lossy(*name));
            found[0].inside
        })
    }

    fn word(bytes: &[u8], at: usize) -> u32 {
        u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
    }

    fn half(bytes: &[u8], at: usize) -> usize {
        usize::from(u16::from_be_bytes(bytes[at..at + 2].try_into().unwrap()))
    }

    /// A unit as decoders of streams take it.
    fn unit(bytes: &[u8]) -> Vec<u8> {
        [&[0, 0, 0, 1], bytes].concat()
    }

    #[test]
    fn mp4_is_whole_and_decodes_to_the_pictures() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mp4");
        // Odd sizes, and more than two seconds for a second frame to begin from.
        let frames: Vec<Picture> = (0..33).map(|i| frame(161, 121, i)).collect();
        write(&path, &frames, 12.5);
        let file = fs::read(&path).unwrap();
        let top = parts(&file);
        let names: Vec<[u8; 4]> = top.iter().map(|p| p.name).collect();
        assert_eq!(names, [*b"ftyp", *b"moov", *b"mdat"], "the index comes first");

        let media = find(&file, &[b"moov", b"trak", b"mdia"]);
        let clock = find(media, &[b"mdhd"]);
        assert!((f64::from(word(clock, 16)) / f64::from(word(clock, 12)) - 33.0 / 12.5).abs() < 1e-9);
        let table = find(media, &[b"minf", b"stbl"]);
        let times = find(table, &[b"stts"]);
        assert_eq!((word(times, 4), word(times, 8)), (1, 33));
        assert_eq!(f64::from(word(clock, 12)) / f64::from(word(times, 12)), 12.5);
        let sync = find(table, &[b"stss"]);
        let sync: Vec<u32> = (0..word(sync, 4) as usize).map(|i| word(sync, 8 + 4 * i)).collect();
        assert_eq!(sync, [1, 26], "every two seconds");
        let entry = find(table, &[b"stsd"])[8..].to_vec();
        let entry = find(&entry, &[b"avc1"]);
        assert_eq!((half(entry, 24), half(entry, 26)), (162, 122));
        let details = &entry[78..];
        assert_eq!(find(details, &[b"colr"]), b"nclx\0\x01\0\x01\0\x01\0");

        let set_up = find(details, &[b"avcC"]);
        let sequence = &set_up[8..8 + half(set_up, 6)];
        let picture = &set_up[8 + sequence.len() + 1..];
        let picture = &picture[2..2 + half(picture, 0)];
        assert_eq!(set_up[1..4], sequence[1..4]);

        // Samples by the index: chunks, how many in each, their sizes.
        let (groups, sizes, places) =
            (find(table, &[b"stsc"]), find(table, &[b"stsz"]), find(table, &[b"stco"]));
        let chunks = word(places, 4) as usize;
        let in_chunk = |chunk: usize| {
            let rows = 0..word(groups, 4) as usize;
            let row = rows.rev().find(|row| word(groups, 8 + 12 * row) as usize <= chunk + 1).unwrap();
            word(groups, 12 + 12 * row)
        };
        let mut samples = Vec::new();
        for chunk in 0..chunks {
            let mut at = word(places, 8 + 4 * chunk) as usize;
            for _ in 0..in_chunk(chunk) {
                let length = word(sizes, 12 + 4 * samples.len()) as usize;
                samples.push(&file[at..at + length]);
                at += length;
            }
        }
        assert_eq!(samples.len(), 33);
        assert_eq!(samples.iter().map(|s| s.len()).sum::<usize>(), top[2].inside.len());
        assert_eq!(samples[0].as_ptr(), file[top[2].at..].as_ptr());

        let mut decoder = Decoder::new().unwrap();
        let mut shown = 0;
        for (number, sample) in samples.iter().enumerate() {
            let mut stream = if number == 0 { [unit(sequence), unit(picture)].concat() } else { Vec::new() };
            let mut rest = *sample;
            while !rest.is_empty() {
                let length = word(rest, 0) as usize;
                assert_ne!(rest[4] & 31, 7, "parameters are in the index");
                stream.extend(unit(&rest[4..4 + length]));
                rest = &rest[4 + length..];
            }
            let decoded = decoder.decode(&stream).unwrap().expect("a frame for every sample");
            assert_eq!(decoded.dimensions(), (162, 122));
            let found = psnr(&frames[number], |x, y| rgb(&decoded, x, y));
            assert!(found > 35.0, "frame {number}: {found} dB");
            shown += 1;
        }
        assert_eq!(shown, 33);
    }

    /// BT.709 back to red, green and blue.
    fn rgb(planes: &impl YUVSource, x: usize, y: usize) -> [u8; 3] {
        let (stride, half, _) = planes.strides();
        let at = y / 2 * half + x / 2;
        let luma = (f32::from(planes.y()[y * stride + x]) - 16.0) / 219.0;
        let [blue, red] = [planes.u()[at], planes.v()[at]].map(|c| (f32::from(c) - 128.0) / 224.0);
        let [r, b] = [luma + 1.5748 * red, luma + 1.8556 * blue];
        let g = (luma - 0.2126 * r - 0.0722 * b) / 0.7152;
        [r, g, b].map(|c| (c * 255.0).round().clamp(0.0, 255.0) as u8)
    }

    #[test]
    fn sizes_that_h264_cannot_are_refused() {
        let message = Clip::create(Path::new("a.mp4"), 5000, 100, 30.0).unwrap_err().to_string();
        assert!(message.contains("16 × 16 to 3840 × 2160 or 2160 × 3840"), "{message}");
        let message = Clip::create(Path::new("a.mp4"), 15, 100, 30.0).unwrap_err().to_string();
        assert!(message.contains("15 × 100"), "{message}");
    }

    #[test]
    fn the_smallest_clips_work() {
        let folder = tempfile::tempdir().unwrap();
        for (width, height) in [(16, 16), (17, 31)] {
            write(&folder.path().join("a.mp4"), &[frame(width, height, 0), frame(width, height, 1)], 30.0);
        }
    }
}
