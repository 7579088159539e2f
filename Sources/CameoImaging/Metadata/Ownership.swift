internal import CameoModel
internal import Foundation

/// Whose a picture is, as any part of its file says: EXIF, XMP, IPTC-IIM or the format's own text, in this order. What two of
/// them say alike counts once.
struct Ownership {
    /// The creators, and the notices of copyright.
    private(set) var creators: [String] = []
    private(set) var notices: [String] = []
    /// XMP's `xmpRights:…` and `photoshop:Credit`, by their names.
    private(set) var terms: [String: [String]] = [:]
    /// Whether more than EXIF says something.
    private var isInXMP = false

    /// The most bytes of one text, longer ones being no notice; and of all that is added to a file.
    private static let longest = (text: 2_048, packet: 8_192)
    private static let creator = "dc:creator", rights = "dc:rights"
    private static let termNames = [
        "photoshop:Credit", "xmpRights:Certificate", "xmpRights:Marked", "xmpRights:Owner", "xmpRights:UsageTerms",
        "xmpRights:WebStatement",
    ]
    private static let spaces = [
        "dc": "http://purl.org/dc/elements/1.1/", "photoshop": "http://ns.adobe.com/photoshop/1.0/",
        "xmpRights": "http://ns.adobe.com/xap/1.0/rights/",
    ]

    init(_ header: borrowing VipsPicture, of file: UnsafeRawBufferPointer, as format: PictureFormat) {
        let exif = header.metadata(.exif).flatMap { TIFFFile(exif: Array($0)) }?.firstDirectory ?? []
        func text(_ tag: Int) -> [UInt8]? {
            exif.first { $0.tag == tag && $0.type == 2 }.map { Array($0.value.prefix { $0 != 0 }) }
        }
        add(creators: text(EXIFTag.artist), notices: text(EXIFTag.copyright))
        let beforeXMP = (creators, notices)
        let gif = format == .gif ? GIFCanvas.texts(in: file) : ([], nil)
        for packet in [header.metadata(.xmp).map { Array($0) }, gif.1] {
            guard let packet, String(validating: packet, as: UTF8.self) != nil else { continue }
            let names = Set(Self.termNames + [Self.creator, Self.rights])
            for (name, values) in XMLCutter.values(of: names, in: packet) {
                switch name {
                case Self.creator: for text in values { add(creators: Array(text.utf8)) }
                case Self.rights: for text in values { add(notices: Array(text.utf8)) }
                default:
                    let texts = values.compactMap { Self.text(Array($0.utf8)) }
                    if terms[name] == nil, !texts.isEmpty { terms[name] = texts }
                }
            }
        }
        for record in header.metadata(.iptc).map({ IPTCRecord.all(in: Array($0)) }) ?? [] {
            if record.dataset == 80 { add(creators: record.value) }
            if record.dataset == 116 { add(notices: record.value) }
        }
        // What libvips does not hand over, or by no name of its own.
        switch format {
        case .png:
            for (keyword, text) in header.comments {
                if keyword == "Author" { add(creators: Array(text.utf8)) }
                if keyword == "Copyright" { add(notices: Array(text.utf8)) }
            }
        case .tiff:
            let page = TIFFChoice(page: 0, in: file)?.directory
            add(creators: page?.text(EXIFTag.artist), notices: page?.text(EXIFTag.copyright))
        default: for comment in gif.0 { note(comment) }
        }
        isInXMP = beforeXMP.0 != creators || beforeXMP.1 != notices || !terms.isEmpty
    }

    /// By a comment of a GIF, which is mostly something else.
    private mutating func note(_ comment: String) {
        for line in comment.split(whereSeparator: \.isNewline) {
            let lower = line.lowercased()
            if lower.hasPrefix("author:") {
                add(creators: Array(line.dropFirst(7).utf8))
            } else if lower.hasPrefix("copyright:") {
                add(notices: Array(line.dropFirst(10).utf8))
            } else if ["©", "(c)", "copyright", "rights reserved"].contains(where: lower.contains) {
                add(notices: Array(line.utf8))
            }
        }
    }

    /// Several creators in one text stand with `;` between.
    private mutating func add(creators text: [UInt8]? = nil, notices notice: [UInt8]? = nil) {
        for part in text.flatMap(Self.text)?.split(separator: ";") ?? [] {
            let name = part.trimmingCharacters(in: .whitespaces)
            if !name.isEmpty, !creators.contains(name) { creators.append(name) }
        }
        if let notice = notice.flatMap(Self.text), !notices.contains(notice) { notices.append(notice) }
    }

    /// A text in UTF-8, or else in ISO 8859-1, without what is no text; nil if nothing is left, or if it is too long.
    private static func text(_ bytes: [UInt8]) -> String? {
        let text =
            String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        let plain = String(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
        let trimmed = plain.trimmingCharacters(in: .whitespaces)
        return trimmed.isEmpty || trimmed.utf8.count > longest.text ? nil : trimmed
    }

    /// What EXIF has to say, by its tags.
    var exif: [Int: String] {
        let texts = [EXIFTag.artist: creators.joined(separator: "; "), EXIFTag.copyright: notices.first ?? ""]
        return texts.filter { !$0.value.isEmpty }
    }

    /// An XMP packet; nil if EXIF says all, or if it would be longer than 8 KiB.
    var xmp: [UInt8]? {
        guard isInXMP else { return nil }
        func list(_ kind: String, _ values: [String]) -> String {
            let items = values.map {
                "<rdf:li\(kind == "Alt" ? " xml:lang=\"x-default\"" : "")>\($0.escapedForMarkup)</rdf:li>"
            }
            return "<rdf:\(kind)>\(items.joined())</rdf:\(kind)>"
        }
        var values = terms.mapValues { $0[0].escapedForMarkup }
        values["xmpRights:UsageTerms"] = terms["xmpRights:UsageTerms"].map { list("Alt", [$0[0]]) }
        values["xmpRights:Owner"] = terms["xmpRights:Owner"].map { list("Bag", $0) }
        if !creators.isEmpty { values[Self.creator] = list("Seq", creators) }
        if !notices.isEmpty { values[Self.rights] = list("Alt", [notices.joined(separator: "; ")]) }
        let spaces = Self.spaces.filter { space in values.keys.contains { $0.hasPrefix(space.key + ":") } }
            .map { " xmlns:\($0.key)=\"\($0.value)\"" }.sorted()
        let properties = values.map { "<\($0)>\($1)</\($0)>" }.sorted()
        let packet = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
            <rdf:Description rdf:about=""\(spaces.joined())>\(properties.joined())\
            </rdf:Description></rdf:RDF></x:xmpmeta>
            """
        return packet.utf8.count <= Self.longest.packet ? Array(packet.utf8) : nil
    }

    /// The text of a GIF's comment; nil if there is nothing to say.
    var comment: [UInt8]? {
        let lines = [("Author", creators), ("Copyright", notices)].filter { !$0.1.isEmpty }
        let text = lines.map { "\($0): \($1.joined(separator: "; "))" }.joined(separator: "\n")
        return text.isEmpty || text.utf8.count > Self.longest.packet ? nil : Array(text.utf8)
    }
}

/// A dataset of the application record of IPTC-IIM 4.2 (1.6, 6).
struct IPTCRecord {
    let dataset: Int
    let value: [UInt8]

    /// Those of a block, or of Photoshop's resources around it, of which number 0x0404 has them.
    static func all(in bytes: [UInt8]) -> [IPTCRecord] {
        var offset = bytes.starts(with: "Photoshop 3.0\0".utf8) ? 14 : 0
        var block = bytes.first == 0x1C ? bytes[...] : []
        while bytes.name(at: offset) == "8BIM", let kind = bytes.number(at: offset + 4, count: 2),
            let name = bytes.number(at: offset + 6, count: 1)
        {
            // A name and its length, and then the data, have even lengths.
            let place = offset + 6 + (name + 2) / 2 * 2
            guard let size = bytes.number(at: place, count: 4), let data = bytes.slice(at: place + 4, count: size)
            else { break }
            if kind == 0x0404 { block = data }
            offset = place + 4 + (size + 1) / 2 * 2
        }
        var found: [IPTCRecord] = []
        while block.count >= 5, block.first == 0x1C {
            let head = Array(block.prefix(5))
            let size = Int(head[3]) << 8 | Int(head[4])
            guard head[3] < 0x80, block.count >= 5 + size else { break }
            if head[1] == 2 {
                found.append(IPTCRecord(dataset: Int(head[2]), value: Array(block.dropFirst(5).prefix(size))))
            }
            block = block.dropFirst(5 + size)
        }
        return found
    }
}
