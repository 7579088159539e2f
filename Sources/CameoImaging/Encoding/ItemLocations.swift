/// The `iloc` box: where the bytes of each item are in an AVIF file (ISO/IEC 14496-12, 8.11.3).
struct ItemLocations {
    struct Item {
        let id: Int
        /// The offset in the file and the length, both in bytes.
        var extents: [(offset: Int, length: Int)]
    }

    var items: [Item] = []

    init() {}

    /// - Returns: nil for what libheif never writes: 32-bit ids, external files, offsets relative to other boxes.
    init?(_ payload: [UInt8]) {
        let reader = ByteReader(payload)
        guard let version = reader.number(at: 0, count: 1), version <= 1, let sizes = reader.number(at: 4, count: 2),
            let count = reader.number(at: 6, count: 2)
        else { return nil }
        let (offsetSize, lengthSize, baseSize) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
        let indexSize = version == 1 ? sizes & 15 : 0
        var position = 8
        func next(_ size: Int) -> Int? {
            defer { position += size }
            return reader.number(at: position, count: size)
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
