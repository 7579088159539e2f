internal import CameoModel

/// What a HEIF or AVIF file says of its primary picture besides pixels (ISO/IEC 23008-12), which libvips ignores.
struct HEIFItem {
    /// The colour space by the code points of `nclx`, unless it is sRGB's. The matrix and the range count nothing here: they lead to
    /// RGB, to where the decoder has gone.
    private(set) var color: CodedColor?
    /// Whether colours are multiplied by alpha already.
    private(set) var isPremultiplied = false
    /// Whether the tiles of pictures that consist of tiles cover them (6.6.2.3.1), as they must. What they leave open,
    /// libheif up to 1.15 does not write.
    private(set) var isCovered = true

    /// The most bytes of the box that describes all items.
    private static let longest = 4 << 20

    /// Nothing is known of a file that is structured differently.
    init(in file: UnsafeRawBufferPointer) {
        guard let meta = Self.meta(of: file), let children = ISOBox.all(in: meta.dropFirst(4)),
            let pitm = children["pitm"]?.payload,
            let primary = pitm.number(at: 4, count: pitm.first == 0 ? 2 : 4)
        else { return }
        let references = children["iref"].map { Self.references($0) } ?? []
        isPremultiplied = references.contains { $0.kind == "prem" && $0.from == primary }
        guard let parts = children["iprp"].flatMap({ ISOBox.all(in: $0.payload) }),
            let properties = parts["ipco"].flatMap({ ISOBox.all(in: $0.payload) }), let ipma = parts["ipma"]
        else { return }
        // Each is looked for once: a file may name very many.
        let associations = ipma.associations
        func boxes(of item: Int) -> [ISOBox] {
            guard let (start, count, width) = associations[item] else { return [] }
            let numbers = (0..<count).compactMap { ipma.payload.number(at: start + $0 * width, count: width) }
            // Counted from 1, behind a bit that says whether a reader must know the property.
            let indices = numbers.map { ($0 & (width == 2 ? 0x7FFF : 0x7F)) - 1 }
            return indices.filter(properties.indices.contains).map { properties[$0] }
        }
        func size(of item: Int) -> PixelSize? {
            guard let box = boxes(of: item).first(where: { $0.name == "ispe" }),
                let width = box.payload.number(at: 4, count: 4), let height = box.payload.number(at: 8, count: 4)
            else { return nil }
            return PixelSize(width, height)
        }
        let types = Self.types(children["iinf"])
        isCovered = references.allSatisfy { reference in
            guard reference.kind == "dimg", types[reference.from] == "grid", let whole = size(of: reference.from)
            else { return true }
            return Self.isCovered(whole, by: reference.to.map(size))
        }
        // A picture of tiles may leave its colours to them.
        let tile = references.first { $0.kind == "dimg" && $0.from == primary }?.to.first
        let boxes = [primary, tile].compactMap(\.self).flatMap(boxes)
        if let box = boxes.first(where: { $0.name == "colr" && $0.payload.starts(with: "nclx".utf8) }) {
            // What is unspecified, as 2 is, is as in sRGB.
            let named = CodedColor(
                primaries: box.payload.number(at: 4, count: 2).flatMap(CodedColor.Primaries.init(codePoint:)) ?? .bt709,
                transfer: box.payload.number(at: 6, count: 2).flatMap(CodedColor.Transfer.init(codePoint:)) ?? .sRGB
            )
            if named != CodedColor(primaries: .bt709, transfer: .sRGB) { color = named }
        }
    }

    /// In what a primary picture is coded that is neither HEVC nor AV1; also what has no picture but a film's. Nil if it is.
    static func unsupported(in file: UnsafeRawBufferPointer) -> String? {
        guard let meta = meta(of: file), let children = ISOBox.all(in: meta.dropFirst(4)) else {
            let isFilm = file.prefix(longest).firstRange(of: "moov".utf8) != nil
            return isFilm ? "of an animation without a still picture" : nil
        }
        let types = types(children["iinf"])
        let pitm = children["pitm"]?.payload
        guard let primary = pitm?.number(at: 4, count: pitm?.first == 0 ? 2 : 4), let type = types[primary]
        else { return nil }
        let tile = children["iref"].map { references($0) }?.first { $0.kind == "dimg" && $0.from == primary }?.to.first
        let names = ["avc1": "AVC", "jpeg": "JPEG", "j2k1": "JPEG 2000", "vvc1": "VVC", "unci": "no codec"]
        let other = [type, tile.flatMap { types[$0] } ?? ""].first { names[$0] != nil } ?? ""
        return names[other].map { "coded as \($0) (\(other)) in HEIF" }
    }

    /// The payload of the file's `meta` box.
    private static func meta(of file: UnsafeRawBufferPointer) -> ArraySlice<UInt8>? {
        var offset = 0
        while file.count - offset >= 8 {
            guard var size = file.number(at: offset, count: 4) else { return nil }
            let isLong = size == 1
            if isLong { size = file.number(at: offset + 9, count: 7) ?? 0 }
            guard size >= 8, size <= file.count - offset else { return nil }
            if file.name(at: offset + 4) == "meta" {
                let start = offset + (isLong ? 16 : 8)
                guard size <= longest, start <= offset + size else { return nil }
                return Array(file[start..<offset + size])[...]
            }
            offset += size
        }
        return nil
    }

    private static func references(_ iref: ISOBox) -> [(kind: String, from: Int, to: [Int])] {
        let width = iref.payload.first == 0 ? 2 : 4
        return (ISOBox.all(in: iref.payload.dropFirst(4)) ?? []).compactMap { box in
            let bytes = box.payload
            guard let from = bytes.number(at: 0, count: width), let count = bytes.number(at: width, count: 2)
            else { return nil }
            return (box.name, from, (1...max(1, count)).compactMap { bytes.number(at: $0 * width + 2, count: width) })
        }
    }

    /// The types of the items, by their numbers; `grid` consists of tiles.
    private static func types(_ iinf: ISOBox?) -> [Int: String] {
        guard let iinf, let entries = ISOBox.all(in: iinf.payload.dropFirst(iinf.payload.first == 0 ? 6 : 8)) else {
            return [:]
        }
        let found = entries.compactMap { entry in
            let width = entry.payload.first == 2 ? 2 : 4
            return entry.payload.number(at: 4, count: width).map { ($0, entry.payload.name(at: 6 + width) ?? "") }
        }
        return Dictionary(found) { first, _ in first }
    }

    /// Whether tiles of one size, in rows and columns, cover a picture; also if a size is not told.
    private static func isCovered(_ whole: PixelSize, by tiles: [PixelSize?]) -> Bool {
        guard let tile = tiles.first ?? nil, !tiles.contains(nil) else { return true }
        guard tile.width > 0, tile.height > 0, whole.width > 0, whole.height > 0,
            tiles.allSatisfy({ $0 == tile })
        else { return false }
        let (columns, rows) = ((whole.width - 1) / tile.width + 1, (whole.height - 1) / tile.height + 1)
        return rows <= tiles.count / columns
    }
}

extension ISOBox {
    /// Where an `ipma` box has the properties of each item, how many, and in how many bytes each.
    var associations: [Int: (start: Int, count: Int, width: Int)] {
        guard let version = payload.first, let flags = payload.number(at: 1, count: 3),
            let count = payload.number(at: 4, count: 4)
        else { return [:] }
        let (idWidth, width) = (version == 0 ? 2 : 4, flags & 1 == 1 ? 2 : 1)
        var found: [Int: (start: Int, count: Int, width: Int)] = [:]
        var position = 8
        for _ in 0..<count {
            guard let id = payload.number(at: position, count: idWidth),
                let used = payload.number(at: position + idWidth, count: 1)
            else { break }
            let start = position + idWidth + 1
            // Of an item that is there twice, the first holds.
            if found[id] == nil { found[id] = (start, used, width) }
            position = start + used * width
        }
        return found
    }
}
