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
    /// In what it is coded that is neither HEVC nor AV1, or what there is in place of a picture; nil if it is.
    private(set) var unsupported: String?
    private(set) var isGrey = false
    /// Of a sample.
    private(set) var bits = 8
    /// Whether samples have the full range; nil if only the coded pixels say so.
    private(set) var hasFullRange: Bool?
    /// How red, green and blue were coded (H.273, table 4).
    private(set) var matrix: Int?
    /// What hides parts of the picture, by its number, if it has another size: it is to be scaled (MIAF, 7.3.5.2).
    private(set) var otherOpacity: Int?
    /// What kinds of auxiliary picture it has, and whether it has another rendering for HDR (ISO 21496-1).
    private(set) var auxiliaries: [String] = [], hasToneMap = false

    /// The most bytes of the box that describes all items.
    private static let longest = 4 << 20
    private static let foreignCodecs = [
        "avc1": "AVC", "jpeg": "JPEG", "j2k1": "JPEG 2000", "vvc1": "VVC", "unci": "no codec",
    ]

    /// Nothing is known of a file that is structured differently.
    init(in file: UnsafeRawBufferPointer) {
        let meta = FileParts(.box, of: file).first { $0.name == "meta" && $0.payload.count <= Self.longest }?.payload
        guard let meta, let children = ISOBox.all(in: file[meta].dropFirst(4)) else {
            let isFilm = file.prefix(Self.longest).firstRange(of: "moov".utf8) != nil
            let codec = file.prefix(Self.longest).firstRange(of: "av01".utf8) != nil ? "AV1" : "HEVC"
            if isFilm { unsupported = "of an animation (\(codec)) without a still picture, which needs cameo-frames" }
            return
        }
        guard let pitm = children["pitm"]?.payload, let primary = pitm.number(at: 4, count: pitm.first == 0 ? 2 : 4)
        else { return }
        let references = children["iref"].map(Self.references) ?? []
        isPremultiplied = references.contains { $0.kind == "prem" && $0.from == primary }
        // A picture of tiles may leave what it says to them.
        let tile = references.first { $0.kind == "dimg" && $0.from == primary }?.to.first
        let types = Self.types(children["iinf"])
        hasToneMap = types.values.contains("tmap")
        let codecs = [primary, tile].compactMap { $0.flatMap { types[$0] } }
        unsupported =
            codecs.lazy.compactMap { type in
                Self.foreignCodecs[type].map { "coded as \($0) (\(type)) in HEIF" }
            }.first
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
            guard let size = boxes(of: item)["ispe"]?.payload, let width = size.number(at: 4, count: 4),
                let height = size.number(at: 8, count: 4)
            else { return nil }
            return PixelSize(width, height)
        }
        isCovered = references.allSatisfy { reference in
            guard reference.kind == "dimg", types[reference.from] == "grid", let whole = size(of: reference.from)
            else { return true }
            return Self.isCovered(whole, by: reference.to.map(size))
        }
        let own = [primary, tile].compactMap(\.self).flatMap(boxes)
        for reference in references where reference.kind == "auxl" && reference.to.contains(primary) {
            guard let type = boxes(of: reference.from)["auxC"]?.payload else { continue }
            let name = String(decoding: type.dropFirst(4).prefix { $0 != 0 }, as: UTF8.self)
            auxiliaries.append(name)
            guard Self.namesOpacity(name), let small = size(of: reference.from) else { continue }
            if small != size(of: primary) { otherOpacity = reference.from }
        }
        // The bit for grey of AV1; HEVC's number for the form of chroma, of which 0 is grey.
        isGrey =
            own["av1C"]?.payload.number(at: 2, count: 1).map { $0 & 0x10 != 0 }
            ?? own["hvcC"]?.payload.number(at: 16, count: 1).map { $0 & 3 == 0 } ?? false
        bits =
            own["av1C"]?.payload.number(at: 2, count: 1).map { $0 & 0x40 == 0 ? 8 : $0 & 0x20 == 0 ? 10 : 12 }
            ?? own["hvcC"]?.payload.number(at: 17, count: 1).map { 8 + $0 & 7 } ?? 8
        guard let colors = own.first(where: { $0.name == "colr" && $0.payload.starts(with: "nclx".utf8) })?.payload
        else { return }
        // What is unspecified, as 2 is, is as in sRGB.
        let named = CodedColor(
            primaries: colors.number(at: 4, count: 2).flatMap(CodedColor.Primaries.init(codePoint:)) ?? .bt709,
            transfer: colors.number(at: 6, count: 2).flatMap(CodedColor.Transfer.init(codePoint:)) ?? .sRGB
        )
        if named != CodedColor(primaries: .bt709, transfer: .sRGB) { color = named }
        matrix = colors.number(at: 8, count: 2)
        hasFullRange = colors.number(at: 10, count: 1).map { $0 & 0x80 != 0 }
        if let otherMatrix { unsupported = unsupported ?? "matrix \(otherMatrix) of H.273, in this range" }
    }

    /// The names of a picture that is the opacity of another (MIAF; ISO/IEC 23008-12, D.4.5).
    static func namesOpacity(_ type: String) -> Bool {
        ["urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1"].contains(type)
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
        guard tile.width > 0, tile.height > 0, whole.width > 0, whole.height > 0, tiles.allSatisfy({ $0 == tile })
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
