extension MetadataSurgery {
    struct UnexpectedHEIF: Error {}

    /// Adds an `irot` property (ISO 23008-12, 6.5.10) to the primary item of a file as libheif 1.15 writes it, which turns
    /// as an EXIF orientation of 1 (not at all), 3, 6 or 8 does.
    static func turning(heif: [UInt8], orientation: Int) throws -> [UInt8] {
        // Quarter turns anticlockwise that bring the picture upright.
        let turns: UInt8
        switch orientation {
        case 1: return heif
        case 3: turns = 2
        case 6: turns = 3
        case 8: turns = 1
        default: throw UnexpectedHEIF()
        }
        var bytes = heif
        let meta = try box("meta", in: bytes, from: 0, to: bytes.count)
        let (start, end) = (meta.lowerBound + 12, meta.upperBound)
        let properties = try box("iprp", in: bytes, from: start, to: end)
        let list = try box("ipco", in: bytes, from: properties.lowerBound + 8, to: properties.upperBound)
        // libvips 8.16 writes it itself, from the orientation.
        if (try? box("irot", in: bytes, from: list.lowerBound + 8, to: list.upperBound)) != nil { return heif }
        let uses = try box("ipma", in: bytes, from: properties.lowerBound + 8, to: properties.upperBound)
        let locations = try box("iloc", in: bytes, from: start, to: end)
        let primary = try box("pitm", in: bytes, from: start, to: end)
        let property: [UInt8] = big(9, 4) + Array("irot".utf8) + [turns]
        let added = property.count + 1

        try moveItems(in: &bytes, locations, by: added)
        // From the end, so that what is before keeps its place.
        let item = number(bytes, primary.upperBound - 2, 2)
        guard let count = count(ofUsesBy: item, in: bytes, uses) else { throw UnexpectedHEIF() }
        let use = UInt8(self.count(ofBoxesIn: bytes, list) + 1) | 0x80
        bytes.insert(use, at: count + 1 + Int(bytes[count]))
        bytes[count] += 1
        bytes.insert(contentsOf: property, at: list.upperBound)
        for (box, growth) in [(meta, added), (properties, added), (list, property.count)] {
            setSize(of: box.lowerBound, to: box.count + growth, in: &bytes)
        }
        setSize(of: uses.lowerBound + property.count, to: uses.count + 1, in: &bytes)
        return bytes
    }

    private static func setSize(of box: Int, to size: Int, in bytes: inout [UInt8]) {
        bytes.replaceSubrange(box..<box + 4, with: big(size, 4))
    }

    private static func number(_ bytes: [UInt8], _ offset: Int, _ length: Int) -> Int {
        bytes[offset..<offset + length].reduce(0) { $0 << 8 | Int($1) }
    }

    private static func box(_ type: String, in bytes: [UInt8], from: Int, to: Int) throws -> Range<Int> {
        var offset = from
        while offset + 8 <= to {
            let size = number(bytes, offset, 4)
            guard size >= 8 else { break }
            if bytes[offset + 4..<offset + 8].elementsEqual(type.utf8) { return offset..<offset + size }
            offset += size
        }
        throw UnexpectedHEIF()
    }

    private static func count(ofBoxesIn bytes: [UInt8], _ list: Range<Int>) -> Int {
        var (offset, count) = (list.lowerBound + 8, 0)
        while offset < list.upperBound {
            offset += number(bytes, offset, 4)
            count += 1
        }
        return count
    }

    /// The offset of the byte that counts an item's properties.
    private static func count(ofUsesBy item: Int, in bytes: [UInt8], _ uses: Range<Int>) -> Int? {
        var offset = uses.lowerBound + 16
        while offset + 3 <= uses.upperBound {
            if number(bytes, offset, 2) == item { return offset + 2 }
            offset += 3 + Int(bytes[offset + 2])
        }
        return nil
    }

    /// Version 0 or 1 with offsets, lengths and base offsets of four bytes and one extent an item.
    private static func moveItems(in bytes: inout [UInt8], _ locations: Range<Int>, by distance: Int) throws {
        let version = Int(bytes[locations.lowerBound + 8])
        guard version < 2, number(bytes, locations.lowerBound + 12, 2) == 0x4440 else { throw UnexpectedHEIF() }
        var offset = locations.lowerBound + 16
        for _ in 0..<number(bytes, locations.lowerBound + 14, 2) {
            // Method 0, the only one of version 0, counts from the file's start.
            let isFromStart = version == 0 || number(bytes, offset + 2, 2) == 0
            offset += version == 0 ? 4 : 6
            if isFromStart {
                let base = number(bytes, offset, 4)
                bytes.replaceSubrange(offset..<offset + 4, with: big(base + distance, 4))
            }
            guard number(bytes, offset + 4, 2) == 1 else { throw UnexpectedHEIF() }
            offset += 14
        }
    }
}
