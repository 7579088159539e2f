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

    /// The boxes that fill these bytes exactly; nil for anything else, including 64-bit sizes.
    static func all(in bytes: some Sequence<UInt8>) -> [ISOBox]? {
        let reader = ByteReader(bytes)
        var boxes: [ISOBox] = []
        var position = 0
        while position < reader.count {
            guard let size = reader.number(at: position, count: 4), size >= 8, let name = reader.name(at: position + 4),
                let payload = reader.slice(at: position + 8, count: size - 8)
            else { return nil }
            boxes.append(ISOBox(name, Array(payload)))
            position += size
        }
        return boxes
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
