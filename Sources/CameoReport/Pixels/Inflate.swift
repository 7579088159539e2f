/// Decompresses zlib data (RFC 1950, RFC 1951).
///
/// DESIGN: no library is linked for this, because whoever reads these bytes has no sandbox. They come from a renderer, which
/// may have been taken over; here every index is checked, and nothing grows beyond the size that is expected.
struct Inflate {
    struct Malformed: Error {}

    private let bytes: [UInt8]
    private var position = 2
    private var bits = 0
    private var bitCount = 0
    private var output: [UInt8] = []
    private let size: Int

    /// The data, which must have exactly this size.
    static func data(_ bytes: [UInt8], size: Int) throws(Malformed) -> [UInt8] {
        var inflate = try Inflate(bytes, size)
        while try inflate.block() {}
        guard inflate.output.count == size else { throw Malformed() }
        return inflate.output
    }

    private init(_ bytes: [UInt8], _ size: Int) throws(Malformed) {
        // Deflate without a preset dictionary. The checksum at the end is not needed: whatever was sent is shown.
        guard bytes.count > 2, bytes[0] & 0x0F == 8, bytes[1] & 0x20 == 0 else { throw Malformed() }
        self.bytes = bytes
        self.size = size
        // Deflate expands to 1032 times its size at most.
        output.reserveCapacity(min(size, bytes.count * 1_032))
    }

    /// Reads a block and returns whether another follows.
    private mutating func block() throws(Malformed) -> Bool {
        let isLast = try take(1) == 1
        switch try take(2) {
        case 0: try stored()
        case 1: try compressed(Self.fixedLengths, Self.fixedDistances)
        case 2:
            let codes = try dynamicCodes()
            try compressed(codes.lengths, codes.distances)
        default: throw Malformed()
        }
        return !isLast
    }

    private mutating func take(_ count: Int) throws(Malformed) -> Int {
        while bitCount < count {
            guard position < bytes.count else { throw Malformed() }
            bits |= Int(bytes[position]) << bitCount
            position += 1
            bitCount += 8
        }
        defer {
            bits >>= count
            bitCount -= count
        }
        return bits & ((1 << count) - 1)
    }

    private mutating func append(_ byte: UInt8) throws(Malformed) {
        guard output.count < size else { throw Malformed() }
        output.append(byte)
    }

    private mutating func stored() throws(Malformed) {
        (bits, bitCount) = (0, 0)
        let (count, complement) = (try take(16), try take(16))
        guard count ^ complement == 0xFFFF, count <= bytes.count - position, count <= size - output.count else {
            throw Malformed()
        }
        output += bytes[position..<position + count]
        position += count
    }

    private mutating func compressed(_ lengths: Code, _ distances: Code) throws(Malformed) {
        while true {
            let symbol = try symbol(lengths)
            if symbol < 256 {
                try append(UInt8(symbol))
            } else if symbol == 256 {
                return
            } else {
                guard symbol - 257 < Self.lengths.count else { throw Malformed() }
                let (length, lengthBits) = Self.lengths[symbol - 257]
                let count = length + (try take(lengthBits))
                let place = try self.symbol(distances)
                guard place < Self.distances.count else { throw Malformed() }
                let (distance, distanceBits) = Self.distances[place]
                let back = distance + (try take(distanceBits))
                guard back <= output.count else { throw Malformed() }
                for _ in 0..<count { try append(output[output.count - back]) }
            }
        }
    }

    /// A canonical Huffman code.
    private struct Code {
        /// The number of codes of each length.
        private(set) var counts = [Int](repeating: 0, count: 16)
        /// The symbols in the order of their codes.
        private(set) var symbols: [Int]

        /// From the length of each symbol's code, at most 15; 0 for none.
        init(_ lengths: some Collection<Int>) throws(Malformed) {
            for length in lengths where length > 0 { counts[length] += 1 }
            var left = 1
            var starts = [0, 0]
            for length in 1...15 {
                left = 2 * left - counts[length]
                guard left >= 0 else { throw Malformed() }
                starts.append(starts[length] + counts[length])
            }
            symbols = [Int](repeating: 0, count: lengths.count)
            for (symbol, length) in lengths.enumerated() where length > 0 {
                symbols[starts[length]] = symbol
                starts[length] += 1
            }
        }
    }

    private mutating func symbol(_ code: Code) throws(Malformed) -> Int {
        var (value, first, index) = (0, 0, 0)
        for length in 1...15 {
            value |= try take(1)
            let count = code.counts[length]
            if value - count < first { return code.symbols[index + value - first] }
            index += count
            first = (first + count) << 1
            value <<= 1
        }
        throw Malformed()
    }

    private mutating func dynamicCodes() throws(Malformed) -> (lengths: Code, distances: Code) {
        let (literals, distances, own) = (try take(5) + 257, try take(5) + 1, try take(4) + 4)
        var ownLengths = [Int](repeating: 0, count: 19)
        for place in Self.order.prefix(own) { ownLengths[place] = try take(3) }
        let code = try Code(ownLengths)
        var lengths: [Int] = []
        while lengths.count < literals + distances {
            let symbol = try symbol(code)
            switch symbol {
            case 16:
                guard let last = lengths.last else { throw Malformed() }
                lengths += [Int](repeating: last, count: 3 + (try take(2)))
            case 17: lengths += [Int](repeating: 0, count: 3 + (try take(3)))
            case 18: lengths += [Int](repeating: 0, count: 11 + (try take(7)))
            default: lengths.append(symbol)
            }
        }
        guard lengths.count == literals + distances else { throw Malformed() }
        return (try Code(lengths.prefix(literals)), try Code(lengths.suffix(distances)))
    }

    private static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    /// The least length of each symbol from 257, and its extra bits.
    private static let lengths: [(Int, Int)] =
        (0..<28).map { (symbol: Int) -> (Int, Int) in
            guard symbol >= 8 else { return (3 + symbol, 0) }
            let extra = symbol / 4 - 1
            return (3 + ((4 + symbol % 4) << extra), extra)
        } + [(258, 0)]
    /// The least distance of each symbol, and its extra bits.
    private static let distances: [(Int, Int)] = (0..<30).map { (symbol: Int) -> (Int, Int) in
        guard symbol >= 4 else { return (1 + symbol, 0) }
        let extra = symbol / 2 - 1
        return (1 + ((2 + symbol % 2) << extra), extra)
    }
    private static let fixedLengths = fixed((0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
    private static let fixedDistances = fixed([Int](repeating: 5, count: 30))

    private static func fixed(_ lengths: [Int]) -> Code {
        guard let code = try? Code(lengths) else { preconditionFailure("the fixed codes are valid") }
        return code
    }
}
