internal import CameoModel
internal import Foundation

/// The metadata of a thumbnail's file. Encoders never write any; the containers add exactly this.
struct KeptMetadata {
    /// EXIF as a TIFF file, without the `Exif` prefix.
    let exif: [UInt8]?
    /// An XMP packet in UTF-8.
    let xmp: [UInt8]?
    /// The text of a GIF, which has no more of all this.
    let comment: [UInt8]?
    let profile: [UInt8]?

    var isEmpty: Bool { exif == nil && xmp == nil && profile == nil }

    /// `size` is the size of one frame; `profile` is the profile to embed, if any.
    init(for plan: RenditionPlan, size: PixelSize, profile: ColorProfile?) {
        self.profile = profile?.bytes
        let keep = plan.rendition.encoding.keep
        let keepsEXIF = !keep.isDisjoint(with: [.copyright, .exif, .gps])
        let picture = plan.source
        let owner =
            keep.contains(.copyright) ? Ownership(picture.header, of: picture.bytes, as: picture.shape.format) : nil
        let source = keepsEXIF ? plan.source.header.metadata(.exif).map { Array($0) } : nil
        exif =
            keepsEXIF
            ? EXIFBlock(source, keeping: keep, owner?.exif ?? [:], size: size, isSRGB: !plan.keepsSourceProfile)?.bytes
            : nil
        let all = (keep.contains(.xmp) ? plan.source.header.metadata(.xmp) : nil).flatMap { source in
            XMPPacket.kept(of: source, keepingPlace: keep.contains(.gps))
        }
        xmp = all ?? owner?.xmp
        comment = owner?.comment
    }
}

/// A source's XMP (ISO 16684-1) without what must not be in a thumbnail.
///
/// DESIGN: properties are cut from the text, as attributes and elements, by their local names; no XML parser sees the
/// source's bytes. If the cut is in doubt, the whole packet is dropped: XMP is a convenience, but a leaked location
/// cannot be taken back. So after cutting, no word that hints at a location may be left anywhere, be it in values,
/// comments or other vocabularies (drones write `drone-dji:GpsLatitude`).
enum XMPPacket {
    /// The most bytes of a packet: it must fit into a JPEG segment together with its name.
    private static let longest = 65_000

    /// Local names in lower case of what no longer applies: the orientation and size of the source's pixels, previews,
    /// maker notes, and references to the rest of a packet.
    private static let outdated: Set<String> = [
        "orientation", "imagewidth", "imagelength", "pixelxdimension", "pixelydimension", "thumbnails", "makernote",
        "hasextendedxmp",
    ]
    /// Local names in lower case of where a picture was made, what place it shows, and where its maker lives: those of
    /// Photoshop, Dublin Core, XMP Dynamic Media, and IPTC Core and Extension (2023.2) with the parts of their structures.
    private static let places: Set<String> = [
        "city", "state", "provincestate", "country", "countrycode", "countryname", "worldregion", "sublocation",
        "location", "locationcreated", "locationshown", "locationid", "locationname", "ciadrcity", "ciadrctry",
        "ciadrextadr", "ciadrpcode", "ciadrregion", "coverage", "shotlocation",
    ]
    private static let placeWords = ["gps", "latitude", "longitude", "longtitude", "geo:lat", "geo:long", "georss"]
    /// Hints at embedded pictures in Base64, and markup that could expand to more than the text shows.
    private static let refusedWords = ["xmpgimg", "gimage:data", "gdepth:data", "makernote", "<!doctype", "<!entity"]

    /// Nil if nothing can be kept because it is not UTF-8, too long, or not trustworthy.
    static func kept(of source: Data, keepingPlace: Bool) -> [UInt8]? {
        guard source.count <= Self.longest * 2, String(validating: source, as: UTF8.self) != nil else { return nil }
        let isCut: (String) -> Bool = { name in
            let local = name.split(separator: ":").last.map { $0.lowercased() } ?? ""
            let isPlace = local.hasPrefix("gps") || Self.places.contains(local)
            return Self.outdated.contains(local) || !keepingPlace && isPlace
        }
        guard source.range(of: Data("<rdf:RDF".utf8)) != nil,
            let kept = XMLCutter.removing(from: Array(source), where: isCut)
        else { return nil }
        // ASCII bytes are compared, not characters, so that combining marks cannot hide a word.
        let lower = kept.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        let refused = Self.refusedWords + (keepingPlace ? [] : Self.placeWords)
        guard kept.count <= Self.longest, !refused.contains(where: { lower.firstRange(of: $0.utf8) != nil }) else {
            return nil
        }
        return kept
    }
}

/// An ICC profile whose header (ICC.1:2010, 7.2) has been checked.
struct ColorProfile {
    enum Space: String {
        case rgb = "RGB "
        case grey = "GRAY"
    }

    let bytes: [UInt8]
    let space: Space

    /// The largest size accepted, in bytes, far above any camera's or screen's profile.
    private static let longest = 4 << 20

    /// - Returns: nil unless it is a complete profile for RGB or grey pixels of at most 4 MiB.
    init?(_ data: Data) {
        guard (128...Self.longest).contains(data.count), data.number(at: 0, count: 4) == data.count,
            data.name(at: 36) == "acsp", let space = data.name(at: 16).flatMap(Space.init)
        else { return nil }
        bytes = Array(data)
        self.space = space
    }
}
