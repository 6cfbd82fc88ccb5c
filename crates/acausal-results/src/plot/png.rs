//! Encodes a picture as PNG (ISO/IEC 15948): 8-bit RGB, rows filtered by "up" and deflated.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::raster::Image;

const SIGNATURE: &[u8; 8] = b"\x89PNG\r\n\x1a\n";
/// Each byte is stored as its difference from the one above, which turns the vertical lines of a plot into zeros.
const FILTER_UP: u8 = 2;

pub(super) fn encode(image: &Image) -> Vec<u8> {
    let mut out = SIGNATURE.to_vec();
    let mut header = Vec::new();
    header.extend_from_slice(&(image.width as u32).to_be_bytes());
    header.extend_from_slice(&(image.height as u32).to_be_bytes());
    header.extend_from_slice(&[8, 2, 0, 0, 0]); // 8 bit, RGB, deflate, adaptive filters, not interlaced
    chunk(&mut out, b"IHDR", &header);

    let stride = 3 * image.width;
    let mut deflate = ZlibEncoder::new(Vec::new(), Compression::default());
    let mut filtered = vec![0; 1 + stride];
    let mut above = vec![0; stride];
    for row in image.rgb.chunks_exact(stride) {
        filtered[0] = FILTER_UP;
        for ((f, &byte), &up) in filtered[1..].iter_mut().zip(row).zip(&above) {
            *f = byte.wrapping_sub(up);
        }
        // Writing to a Vec cannot fail.
        let _ = deflate.write_all(&filtered);
        above.copy_from_slice(row);
    }
    chunk(&mut out, b"IDAT", &deflate.finish().unwrap_or_default());
    chunk(&mut out, b"IEND", &[]);
    out
}

fn chunk(out: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    out.extend_from_slice(&(data.len() as u32).to_be_bytes());
    let mut crc = flate2::Crc::new();
    crc.update(kind);
    crc.update(data);
    out.extend_from_slice(kind);
    out.extend_from_slice(data);
    out.extend_from_slice(&crc.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_chunk_has_its_known_checksum() {
        let mut out = Vec::new();
        chunk(&mut out, b"IEND", &[]);
        assert_eq!(
            out,
            [0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82]
        );
    }

    #[test]
    fn pixels_can_be_recovered() {
        use std::io::Read;
        let rgb: Vec<u8> = (0..3 * 4 * 5).map(|i| (i * 37 % 251) as u8).collect();
        let png = encode(&Image {
            width: 4,
            height: 5,
            rgb: rgb.clone(),
        });
        let length = u32::from_be_bytes(png[33..37].try_into().unwrap()) as usize;
        assert_eq!(&png[37..41], b"IDAT");
        let mut rows = Vec::new();
        flate2::read::ZlibDecoder::new(&png[41..41 + length])
            .read_to_end(&mut rows)
            .unwrap();
        let mut above = vec![0u8; 12];
        let mut found = Vec::new();
        for row in rows.chunks(13) {
            assert_eq!(row[0], 2);
            above = row[1..]
                .iter()
                .zip(&above)
                .map(|(f, up)| f.wrapping_add(*up))
                .collect();
            found.extend_from_slice(&above);
        }
        assert_eq!(found, rgb);
    }
}
