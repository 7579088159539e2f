internal import Foundation

/// A source's XMP (ISO 16684-1) without what must not be in a thumbnail.
///
/// DESIGN: properties are cut from the text, attributes and elements, by their local names: no XML parser sees the
/// source's bytes. What the cutting cannot be sure of drops the packet as a whole: XMP is a convenience, a place that got
/// out is not to be taken back. So after cutting no word that could lead to a place may be left anywhere, in values,
/// comments or other vocabularies (drones write `drone-dji:GpsLatitude`).
struct XMPPacket {
    let bytes: [UInt8]

    /// With its name, a JPEG segment holds this much.
    private static let longest = 65_000

    /// Local names, lower case: the orientation and size of the source's pixels; previews; the maker's own bytes; the
    /// rest of a packet that is not there.
    private static let untrue: Set<String> = [
        "orientation", "imagewidth", "imagelength", "pixelxdimension", "pixelydimension", "thumbnails", "makernote",
        "hasextendedxmp",
    ]
    private static let placeWords = ["gps", "latitude", "longitude", "longtitude", "geo:lat", "geo:long", "georss"]
    /// Base64 of other pictures, and what could make a text say more than it shows.
    private static let refusedWords = ["xmpgimg", "gimage:data", "gdepth:data", "makernote", "<!doctype", "<!entity"]

    /// - Returns: nil if nothing can be kept: it is not UTF-8, too long, or not to be trusted.
    init?(_ source: Data, keepingPlace: Bool) {
        guard source.count <= Self.longest * 2, String(validating: source, as: UTF8.self) != nil else { return nil }
        let isCut: (String) -> Bool = { name in
            let local = name.split(separator: ":").last.map { $0.lowercased() } ?? ""
            return Self.untrue.contains(local) || !keepingPlace && local.hasPrefix("gps")
        }
        guard source.range(of: Data("<rdf:RDF".utf8)) != nil,
            let kept = XMLCutter(Array(source)).removing(where: isCut)
        else { return nil }
        // ASCII only: what makes another character of these letters does not hide them.
        let lower = kept.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        let refused = Self.refusedWords + (keepingPlace ? [] : Self.placeWords)
        guard kept.count <= Self.longest, !refused.contains(where: { lower.firstRange(of: $0.utf8) != nil }) else {
            return nil
        }
        bytes = kept
    }
}
