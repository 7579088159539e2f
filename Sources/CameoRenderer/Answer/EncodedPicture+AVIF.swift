// ISO/IEC 14496-12 (boxes) and 23008-12 (pictures in them).
extension EncodedPicture {
    /// Boxes fill the file; the size is the `ispe` property, which all its pictures (colour and alpha) must share.
    static func avif(_ bytes: EncodedBytes) -> EncodedPicture? {
        guard let boxes = boxes(bytes, 0..<bytes.count), let meta = boxes["meta"],
            let parts = Self.boxes(bytes, meta.lowerBound + 4..<meta.upperBound)?["iprp"],
            let properties = Self.boxes(bytes, parts)?["ipco"]
        else { return nil }
        var sizes: Set<EncodedPicture> = []
        let isSound = isEachBox(bytes, properties) { name, content in
            guard name == "ispe" else { return true }
            let size = EncodedPicture(
                bytes.bigEndian(content.lowerBound + 4, 4),
                bytes.bigEndian(content.lowerBound + 8, 4)
            )
            if let size { sizes.insert(size) }
            return size != nil
        }
        return isSound && sizes.count == 1 ? sizes.first : nil
    }

    /// The contents of the boxes that fill a range exactly, by name; nil if a name occurs twice.
    private static func boxes(_ bytes: EncodedBytes, _ range: Range<Int>) -> [String: Range<Int>]? {
        var found: [String: Range<Int>] = [:]
        let isSound = isEachBox(bytes, range) { name, content in
            guard name != "mdat" else { return true }
            return found.updateValue(content, forKey: name) == nil
        }
        return isSound ? found : nil
    }

    private static func isEachBox(
        _ bytes: EncodedBytes,
        _ range: Range<Int>,
        _ isGood: (_ name: String, _ content: Range<Int>) -> Bool
    ) -> Bool {
        var offset = range.lowerBound
        while offset < range.upperBound {
            guard let size = bytes.bigEndian(offset, 4), size >= 8, size <= range.upperBound - offset,
                let name = bytes.name(offset + 4), isGood(name, offset + 8..<offset + size)
            else { return false }
            offset += size
        }
        return true
    }
}
