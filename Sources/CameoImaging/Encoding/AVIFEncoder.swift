internal import CHEIF
internal import CVips
internal import CameoModel
internal import Foundation

/// AVIF (ISO/IEC 23008-12, HEIF) as libheif writes it: `ftyp`, `meta`, `mdat`.
///
/// EXIF and XMP are separate items that describe the primary one; a profile is one of its properties.
enum AVIFEncoder: FormatEncoder {
    /// libaom's effort, 0…9. Its default, 4, takes more than four times as long to save a few per cent of bytes.
    private static let usualEffort = 2

    static func file(of picture: borrowing VipsPicture, _ encoding: Rendition.Encoding, quality: Int?) -> Data? {
        let effort = encoding.effort ?? usualEffort
        guard let quality else { return picture.losslessAVIF(effort: effort) }
        let isQuarter = encoding.chroma(at: quality) == .quarter
        let chroma = isQuarter ? VIPS_FOREIGN_SUBSAMPLE_ON : VIPS_FOREIGN_SUBSAMPLE_OFF
        return picture.saved { cameo_vips_avifsave($0, $1, $2, Int32(quality), Int32(effort), chroma) }
    }

    static func adding(_ metadata: KeptMetadata, to file: Data, size: PixelSize, hasAlpha: Bool) -> Data? {
        if metadata.isEmpty { return file }
        guard var boxes = ISOBox.all(in: file), let metaIndex = boxes.firstIndex(where: { $0.name == "meta" }) else {
            return nil
        }
        let meta = boxes[metaIndex].payload
        guard var children = ISOBox.all(in: meta.dropFirst(4)), let pitm = children["pitm"]?.payload,
            pitm.first == 0, let primary = pitm.number(at: 4, count: 2),
            var locations = children["iloc"].flatMap({ ItemLocations($0.payload) }),
            let last = locations.items.map(\.id).max()
        else { return nil }

        var items: [(id: Int, info: [UInt8], bytes: [UInt8])] = []
        if let exif = metadata.exif {
            // The first four bytes give the offset of the TIFF header behind them.
            let bytes = [0, 0, 0, 6] + Array("Exif\0\0".utf8) + exif
            items.append((last + 1, Array("Exif\0".utf8), bytes))
        }
        if let xmp = metadata.xmp {
            items.append((last + items.count + 1, Array("mime\0application/rdf+xml\0".utf8), Self.bare(xmp)))
        }
        for item in items {
            guard add(item.id, item.info, describing: primary, to: &children) else { return nil }
            locations.items.append(.init(id: item.id, extents: [(0, item.bytes.count)]))
        }
        if let profile = metadata.profile, !add(profile, to: primary, in: &children) { return nil }

        // Offsets have the same length before and after they are known.
        children.set(ISOBox("iloc", locations.payload))
        let growth = 4 + children.bytes.count - meta.count
        var end = file.count + growth + 8
        for index in locations.items.indices {
            let isNew = index >= locations.items.count - items.count
            for extent in locations.items[index].extents.indices {
                locations.items[index].extents[extent].offset += isNew ? end : growth
                if isNew { end += locations.items[index].extents[extent].length }
            }
        }
        children.set(ISOBox("iloc", locations.payload))
        boxes[metaIndex].payload = meta.prefix(4) + children.bytes
        if !items.isEmpty { boxes.append(ISOBox("mdat", items.flatMap(\.bytes))) }
        return Data(boxes.bytes)
    }

    /// The XMP without the packet header before it, which is useless in an item and keeps libvips from recognising the
    /// item as XMP.
    private static func bare(_ xmp: [UInt8]) -> [UInt8] {
        guard let start = xmp.firstRange(of: "<x:xmpmeta".utf8)?.lowerBound else { return xmp }
        return Array(xmp[start...])
    }

    /// Declares an item in `iinf` and links it to another in `iref`.
    private static func add(
        _ id: Int,
        _ info: [UInt8],
        describing primary: Int,
        to children: inout [ISOBox]
    ) -> Bool {
        guard var iinf = children["iinf"]?.payload, iinf.first == 0,
            let count = iinf.number(at: 4, count: 2)
        else { return false }
        // Version 2; id, no protection, type, no name.
        var entry: [UInt8] = [2, 0, 0, 0]
        entry.append(id, count: 2)
        entry.append(0, count: 2)
        entry += info
        var counted = Array(iinf.prefix(4))
        counted.append(count + 1, count: 2)
        iinf = counted + iinf.dropFirst(6) + ISOBox("infe", entry).bytes
        children.set(ISOBox("iinf", iinf))

        var references = children["iref"]?.payload ?? [0, 0, 0, 0]
        guard references.first == 0 else { return false }
        var reference: [UInt8] = []
        for number in [id, 1, primary] { reference.append(number, count: 2) }
        references += ISOBox("cdsc", reference).bytes
        children.set(ISOBox("iref", references))
        return true
    }

    /// Adds a property to `ipco` and assigns it to an item in `ipma`.
    private static func add(_ profile: [UInt8], to item: Int, in children: inout [ISOBox]) -> Bool {
        guard let iprp = children["iprp"], var parts = ISOBox.all(in: iprp.payload),
            var properties = parts["ipco"].flatMap({ ISOBox.all(in: $0.payload) }), let ipma = parts["ipma"],
            // Version 0, indices of 7 bits.
            ipma.payload.prefix(4).allSatisfy({ $0 == 0 }), properties.count < 127,
            let (start, used, _) = ipma.associations[item],
            let indices = ipma.payload.slice(at: start, count: used)
        else { return false }
        properties.append(ISOBox("colr", Array("prof".utf8) + profile))
        let more = [UInt8(truncatingIfNeeded: used + 1)] + indices + [UInt8(properties.count)]
        parts.set(ISOBox("ipco", properties.bytes))
        parts.set(ISOBox("ipma", ipma.payload[..<(start - 1)] + more + ipma.payload[(start + used)...]))
        children.set(ISOBox("iprp", parts.bytes))
        return true
    }
}

/// A box of an ISO base media file (ISO/IEC 14496-12, 4.2).
struct ISOBox {
    let name: String
    var payload: [UInt8]

    init(_ name: String, _ payload: [UInt8]) {
        self.name = name
        self.payload = payload
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(payload.count + 8, count: 4)
        return bytes + name.utf8 + payload
    }

    /// The boxes that fill these bytes exactly; nil for anything else.
    static func all(in bytes: some Sequence<UInt8>) -> [ISOBox]? {
        Array(bytes).withUnsafeBytes { bytes in
            var (parts, boxes): (FileParts, [ISOBox]) = (FileParts(.box, of: bytes), [])
            while let (name, payload) = parts.next() { boxes.append(ISOBox(name, Array(bytes[payload]))) }
            return parts.isAtEnd ? boxes : nil
        }
    }
}

extension [ISOBox] {
    var bytes: [UInt8] { reduce(into: []) { $0 += $1.bytes } }

    subscript(name: String) -> ISOBox? { first { $0.name == name } }

    /// Replaces the box of that name, or appends the box if there is none.
    mutating func set(_ box: ISOBox) {
        if let index = firstIndex(where: { $0.name == box.name }) { self[index] = box } else { append(box) }
    }
}

/// The `iloc` box: where the bytes of each item are in an AVIF file (ISO/IEC 14496-12, 8.11.3).
struct ItemLocations {
    struct Item {
        let id: Int
        /// The offset in the file and the length, both in bytes.
        var extents: [(offset: Int, length: Int)]
    }

    var items: [Item] = []

    /// - Returns: nil for what libheif never writes: 32-bit ids, external files, offsets relative to other boxes.
    init?(_ payload: [UInt8]) {
        guard let version = payload.number(at: 0, count: 1), version <= 1, let sizes = payload.number(at: 4, count: 2),
            let count = payload.number(at: 6, count: 2)
        else { return nil }
        let (offsetSize, lengthSize, baseSize) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
        let indexSize = version == 1 ? sizes & 15 : 0
        var position = 8
        func next(_ size: Int) -> Int? {
            defer { position += size }
            return payload.number(at: position, count: size)
        }
        for _ in 0..<count {
            guard let id = next(2), version == 0 || next(2) == 0, next(2) == 0, let base = next(baseSize),
                let extents = next(2)
            else { return nil }
            var item = Item(id: id, extents: [])
            for _ in 0..<extents {
                guard next(indexSize) != nil, let offset = next(offsetSize), let length = next(lengthSize) else {
                    return nil
                }
                item.extents.append((base + offset, length))
            }
            items.append(item)
        }
    }

    /// The box in version 0, with 32-bit offsets and lengths.
    var payload: [UInt8] {
        var bytes: [UInt8] = [0, 0, 0, 0, 0x44, 0]
        bytes.append(items.count, count: 2)
        for item in items {
            bytes.append(item.id, count: 2)
            bytes.append(0, count: 2)
            bytes.append(item.extents.count, count: 2)
            for extent in item.extents {
                bytes.append(extent.offset, count: 4)
                bytes.append(extent.length, count: 4)
            }
        }
        return bytes
    }
}

extension VipsPicture {
    /// The picture as an AVIF file without metadata that keeps every pixel: the planes are red, green and blue themselves. The
    /// effort is libaom's. Nil if the picture could not be computed, or if libheif refused it.
    fileprivate func losslessAVIF(effort: Int) -> Data? {
        let context = heif_context_alloc()
        defer { heif_context_free(context) }
        var (descriptor, encoder, planes): (OpaquePointer?, OpaquePointer?, OpaquePointer?)
        defer {
            if let planes { heif_image_release(planes) }
            if let encoder { heif_encoder_release(encoder) }
        }
        // Other encoders of AV1 lose pixels.
        guard heif_context_get_encoder_descriptors(context, heif_compression_AV1, "aom", &descriptor, 1) == 1,
            isDone(heif_context_get_encoder(context, descriptor, &encoder)),
            isDone(heif_encoder_set_lossless(encoder, 1)),
            isDone(heif_encoder_set_parameter_integer(encoder, "speed", Int32(9 - effort))),
            isDone(heif_encoder_set_parameter_string(encoder, "chroma", "444")),
            isDone(heif_image_create(Int32(width), Int32(height), heif_colorspace_YCbCr, heif_chroma_444, &planes)),
            withPixels({ fill(planes, $0) }) == true, let options = heif_encoding_options_alloc(),
            let colors = heif_nclx_color_profile_alloc()
        else { return nil }
        defer {
            heif_encoding_options_free(options)
            heif_nclx_color_profile_free(colors)
        }
        colors.pointee.color_primaries = heif_color_primaries_ITU_R_BT_709_5
        colors.pointee.transfer_characteristics = heif_transfer_characteristic_IEC_61966_2_1
        colors.pointee.matrix_coefficients = heif_matrix_coefficients_RGB_GBR
        colors.pointee.full_range_flag = 1
        options.pointee.save_alpha_channel = hasAlpha ? 1 : 0
        options.pointee.output_nclx_profile = colors
        options.pointee.macOS_compatibility_workaround_no_nclx_profile = 0
        var writer = heif_writer(writer_api_version: 1) { _, bytes, count, file in
            if let bytes { file?.assumingMemoryBound(to: Data.self).pointee.append(Data(bytes: bytes, count: count)) }
            return heif_error(code: heif_error_Ok, subcode: heif_suberror_Unspecified, message: nil)
        }
        var file = Data()
        guard isDone(heif_image_set_nclx_color_profile(planes, colors)),
            isDone(heif_context_encode_image(context, planes, encoder, options, nil)),
            isDone(withUnsafeMutablePointer(to: &file) { heif_context_write(context, &writer, $0) })
        else { return nil }
        return file
    }

    private func fill(_ planes: OpaquePointer?, _ pixels: Span<UInt8>) -> Bool {
        // As ITU-T H.273 has them: green, blue, red.
        let channels = [heif_channel_Cr, heif_channel_Y, heif_channel_Cb] + (hasAlpha ? [heif_channel_Alpha] : [])
        for (index, channel) in channels.enumerated() {
            var stride: Int32 = 0
            guard isDone(heif_image_add_plane(planes, channel, Int32(width), Int32(height), 8)),
                let plane = heif_image_get_plane(planes, channel, &stride)
            else { return false }
            let band = index < 3 ? min(index, colorBands - 1) : bands - 1
            for y in 0..<height {
                for x in 0..<width { plane[y * Int(stride) + x] = pixels[(y * width + x) * bands + band] }
            }
        }
        return true
    }

    private func isDone(_ result: heif_error) -> Bool {
        if result.code != heif_error_Ok { cameo_vips_note_error("heifsave", result.message) }
        return result.code == heif_error_Ok
    }
}
