package import Foundation

extension Pictures {
    /// What must not get out, each somewhere else in ``withMetadata(orientation:order:)``: the place, twice; the maker's
    /// own bytes; the embedded preview.
    package static let secrets = ["PLACESECRET", "LATSECRET", "NOTESECRET", "VIEWSECRET"]

    package enum ByteOrder: String, Sendable {
        case big, little
    }

    /// The photo as JPEG, upright, with EXIF (owner, camera, place, maker's note, preview), XMP (rights and a place) and
    /// the profile of sRGB.
    package static func withMetadata(orientation: Int = 1, order: ByteOrder = .big) async throws -> String {
        try await file("metadata-\(orientation)-\(order).jpg") { path in
            try await vips("jpegsave", photo(), "\(path).jpg", "--profile", "srgb")
            let jpeg = try Data(contentsOf: URL(filePath: "\(path).jpg"))
            let exif = EXIFMaker(order).everything(orientation: orientation)
            try withSegments(jpeg, exif: exif, xmp: xmp).write(to: URL(filePath: path))
        }
    }

    /// The same in another format that carries EXIF and XMP: `png`, `webp`, `avif`.
    package static func withMetadata(as ending: String) async throws -> String {
        try await file("metadata.\(ending)") { path in
            let options = ending == "avif" ? ["--compression", "av1", "--effort", "0"] : []
            let saver = ending == "avif" ? "heifsave" : "\(ending)save"
            try await tool("vips", [saver, withMetadata(), path] + options)
        }
    }

    /// The photo as JPEG with this XMP.
    package static func withXMP(_ name: String, _ xmp: Data) async throws -> String {
        let jpeg = try await Data(contentsOf: URL(filePath: photo("jpg")))
        return try await bytes("\(name).jpg", Array(withSegments(jpeg, exif: nil, xmp: xmp)))
    }

    /// The photo as JPEG with this EXIF.
    package static func withEXIF(_ name: String, _ exif: [UInt8]) async throws -> String {
        let jpeg = try await Data(contentsOf: URL(filePath: photo("jpg")))
        return try await bytes("\(name).jpg", Array(withSegments(jpeg, exif: exif, xmp: nil)))
    }

    /// A packet of XMP with these attributes and elements in it.
    package static func xmp(attributes: String = "", elements: String = "") -> Data {
        let text = """
            <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?>
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            <rdf:Description rdf:about="" xmlns:exif="http://ns.adobe.com/exif/1.0/"
             xmlns:tiff="http://ns.adobe.com/tiff/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/" \(attributes)>
            <dc:rights><rdf:Alt><rdf:li xml:lang="x-default">Ann &amp; Co</rdf:li></rdf:Alt></dc:rights>\(elements)
            </rdf:Description></rdf:RDF></x:xmpmeta>
            <?xpacket end="w"?>
            """
        return Data(text.utf8)
    }

    private static let xmp = xmp(
        attributes: "exif:GPSLatitude=\"48,51.49N LATSECRET\" tiff:Orientation='6'",
        elements: "<exif:GPSAreaInformation><rdf:Alt><rdf:li>PLACESECRET</rdf:li></rdf:Alt></exif:GPSAreaInformation>"
    )

    private static func withSegments(_ jpeg: Data, exif: [UInt8]?, xmp: Data?) -> Data {
        func segment(_ payload: [UInt8]) -> [UInt8] {
            [0xFF, 0xE1, UInt8((payload.count + 2) >> 8), UInt8((payload.count + 2) & 255)] + payload
        }
        var segments: [UInt8] = []
        if let exif { segments += segment(Array("Exif\0\0".utf8) + exif) }
        if let xmp { segments += segment(Array("http://ns.adobe.com/xap/1.0/\0".utf8) + xmp) }
        return jpeg.prefix(2) + segments + jpeg.dropFirst(2)
    }
}

/// Writes EXIF as cameras do.
struct EXIFMaker {
    private typealias Field = (tag: Int, type: Int, count: Int, value: [UInt8])

    private let order: Pictures.ByteOrder

    init(_ order: Pictures.ByteOrder) {
        self.order = order
    }

    private func bytes(_ number: Int, _ count: Int) -> [UInt8] {
        let little = (0..<count).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        return order == .big ? little.reversed() : little
    }

    private func text(_ tag: Int, _ text: String) -> Field { (tag, 2, text.utf8.count + 1, Array(text.utf8) + [0]) }
    private func short(_ tag: Int, _ number: Int) -> Field { (tag, 3, 1, bytes(number, 2)) }
    private func long(_ tag: Int, _ number: Int) -> Field { (tag, 4, 1, bytes(number, 4)) }
    private func raw(_ tag: Int, _ text: String) -> Field { (tag, 7, text.utf8.count, Array(text.utf8)) }
    private func ratios(_ tag: Int, _ numbers: Int...) -> Field {
        (tag, 5, numbers.count / 2, numbers.flatMap { bytes($0, 4) })
    }

    func everything(orientation: Int) -> [UInt8] {
        let camera = [
            ratios(0x829A, 1, 250), raw(0x9000, "0232"), text(0x9003, "2024:05:06 07:08:09"),
            raw(0x927C, "NOTESECRET of the maker"), long(0xA002, 960), long(0xA003, 640), text(0xA434, "Lens 50mm"),
        ]
        let place = [
            text(1, "N"), ratios(2, 48, 1, 51, 1, 2953, 100), text(3, "E"), ratios(4, 2, 1, 17, 1, 4000, 100),
            text(0x1B, "PLACESECRET"),
        ]
        let preview = Array("\u{7F}VIEWSECRET".utf8)
        func picture(_ cameraAt: Int, _ placeAt: Int) -> [Field] {
            [
                text(0x010F, "Cameo Works"), text(0x0110, "Model X"), short(0x0112, orientation),
                text(0x013B, "Ann Artist"), text(0x8298, "Copyright Ann"), long(0x8769, cameraAt),
                long(0x8825, placeAt),
            ]
        }
        func previewFields(_ offset: Int) -> [Field] { [long(0x0201, offset), long(0x0202, preview.count)] }
        // Lengths do not depend on the offsets.
        let cameraAt = 8 + directory(picture(0, 0), at: 8, next: 0).count
        let placeAt = cameraAt + directory(camera, at: 0, next: 0).count
        let previewAt = placeAt + directory(place, at: 0, next: 0).count
        let bytesAt = previewAt + directory(previewFields(0), at: 0, next: 0).count
        return Array((order == .big ? "MM\0*" : "II*\0").utf8) + bytes(8, 4)
            + directory(picture(cameraAt, placeAt), at: 8, next: previewAt) + directory(camera, at: cameraAt, next: 0)
            + directory(place, at: placeAt, next: 0) + directory(previewFields(bytesAt), at: previewAt, next: 0)
            + preview
    }

    private func directory(_ fields: [Field], at offset: Int, next: Int) -> [UInt8] {
        var head = bytes(fields.count, 2)
        var values: [UInt8] = []
        let valuesAt = offset + 6 + fields.count * 12
        for field in fields {
            head += bytes(field.tag, 2) + bytes(field.type, 2) + bytes(field.count, 4)
            if field.value.count > 4 {
                head += bytes(valuesAt + values.count, 4)
                values += field.value + (field.value.count % 2 == 1 ? [0] : [])
            } else {
                head += field.value + [UInt8](repeating: 0, count: 4 - field.value.count)
            }
        }
        return head + bytes(next, 4) + values
    }
}
