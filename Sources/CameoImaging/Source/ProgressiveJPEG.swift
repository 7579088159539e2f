internal import CameoModel

// DESIGN. A progressive JPEG codes the mean of every block of 8 × 8 pixels (its DC coefficient) and the details in the block
// (AC) in scans of their own, several for each component. A decoder that shrinks by 8 makes one pixel of a block, which is
// the mean, but libjpeg reads all scans before it makes the first pixel. So the scans of details are left out before libjpeg
// sees the file, and the decoded pixels stay the same. Three things are easy to overlook:
//
// - A component that is subsampled in both directions is shrunk by less than 8, so its details count (jdmaster.c).
// - libjpeg smooths blocks whose details are not known yet (jdcoefct.c), so each component that lost its own gets one scan
//   that says that all of them are 0.
// - A truncated file must stay one: without its end mark it is left as it is.

/// A progressive JPEG without what a decoder does not need to shrink it by 8.
struct ProgressiveJPEG {
    /// The file, from its start to its end mark.
    private(set) var bytes: [UInt8]

    private struct Component {
        let id: UInt8
        let horizontal: Int
        let vertical: Int
        /// The bits that are still missing of each coefficient, as the scans so far have left them.
        var missing = [UInt8](repeating: .max, count: 64)
    }

    private var size = (width: 0, height: 0)
    private var components: [Component] = []
    private var hasDropped = false

    /// Nil if that file is not progressive, has nothing to leave out, or deviates from ITU-T T.81 in any way.
    init?(shorteningForEighth file: UnsafeRawBufferPointer) {
        guard file.count > 4, file[0] == 0xFF, file[1] == Marker.start, file[2] == 0xFF else { return nil }
        bytes = []
        var (kept, segments): ([Range<Int>], JPEGSegments) = ([0..<2], JPEGSegments(file))
        guard var segment = segments.next() else { return nil }
        while segment.marker != Marker.end {
            var isNeeded = true
            switch segment.marker {
            case Marker.progressiveFrame:
                guard components.isEmpty, readFrame(file[segment.payload]) else { return nil }
            case Marker.scan:
                guard let isOfUse = readScan(file[segment.payload]) else { return nil }
                isNeeded = isOfUse
            case Marker.huffmanTables, Marker.quantizationTables, Marker.restartInterval, Marker.application,
                Marker.comment:
                break
            default: return nil
            }
            guard let next = segments.next() else { return nil }
            if isNeeded { kept.append(segment.start..<next.start) } else { hasDropped = true }
            segment = next
        }
        guard hasDropped, components.allSatisfy({ hasDetailsThatCount($0) || $0.missing[1...].allSatisfy { $0 == 0 } })
        else { return nil }
        bytes.reserveCapacity(kept.reduce(1_024) { $0 + $1.count })
        for range in kept { bytes += file[range] }
        appendScansWithoutDetails()
        bytes += [0xFF, Marker.end]
    }

    private enum Marker {
        static let start: UInt8 = 0xD8
        static let end: UInt8 = 0xD9
        static let progressiveFrame: UInt8 = 0xC2
        static let huffmanTables: UInt8 = 0xC4
        static let scan: UInt8 = 0xDA
        static let quantizationTables: UInt8 = 0xDB
        static let restartInterval: UInt8 = 0xDD
        static let application: ClosedRange<UInt8> = 0xE0...0xEF
        static let comment: UInt8 = 0xFE
    }

    /// Reads the contents of a frame header (T.81, B.2.2). Returns false if it is none that libvips reads.
    private mutating func readFrame(_ segment: Slice<UnsafeRawBufferPointer>) -> Bool {
        let header = Array(segment)
        guard header.count >= 6, header[0] == 8, [1, 3, 4].contains(header[5]), header.count == 6 + 3 * Int(header[5])
        else { return false }
        size = (Int(header[3]) << 8 | Int(header[4]), Int(header[1]) << 8 | Int(header[2]))
        for start in stride(from: 6, to: header.count, by: 3) {
            let (horizontal, vertical) = (Int(header[start + 1] >> 4), Int(header[start + 1] & 15))
            guard (1...4).contains(horizontal), (1...4).contains(vertical),
                !components.contains(where: { $0.id == header[start] })
            else { return false }
            components.append(Component(id: header[start], horizontal: horizontal, vertical: vertical))
        }
        return size.width > 0 && size.height > 0
    }

    /// Reads the contents of a scan header (T.81, B.2.3), and returns whether the scan is needed; nil if it is invalid.
    private mutating func readScan(_ segment: Slice<UnsafeRawBufferPointer>) -> Bool? {
        let header = Array(segment)
        guard let count = header.first.map(Int.init), header.count == 4 + 2 * count, (1...4).contains(count) else {
            return nil
        }
        let (first, last) = (Int(header[1 + 2 * count]), Int(header[2 + 2 * count]))
        if first == 0 { return last == 0 ? true : nil }
        guard count == 1, first <= last, last < 64,
            let index = components.firstIndex(where: { $0.id == header[1] })
        else { return nil }
        for coefficient in first...last { components[index].missing[coefficient] = header[3 + 2 * count] & 15 }
        return hasDetailsThatCount(components[index])
    }

    private func hasDetailsThatCount(_ component: Component) -> Bool {
        2 * component.horizontal <= mostHorizontal && 2 * component.vertical <= mostVertical
    }

    private var mostHorizontal: Int { components.map(\.horizontal).max() ?? 1 }
    private var mostVertical: Int { components.map(\.vertical).max() ?? 1 }

    /// Appends a scan for each component that lost its details. All blocks end at once, in runs (T.81, G.1.2.2).
    private mutating func appendScansWithoutDetails() {
        let runs = (0..<15).map { UInt8($0 << 4) }
        bytes += [0xFF, Marker.restartInterval, 0, 4, 0, 0]
        // A table with one code of four bits for each order of magnitude of a run.
        bytes += [0xFF, Marker.huffmanTables, 0, UInt8(19 + runs.count), 0x10, 0, 0, 0, UInt8(runs.count)]
        bytes += [UInt8](repeating: 0, count: 12) + runs
        for component in components where !hasDetailsThatCount(component) {
            bytes += [0xFF, Marker.scan, 0, 8, 1, component.id, 0, 1, 63, 0]
            let columns = Self.blocks(size.width * component.horizontal, mostHorizontal)
            var left = columns * Self.blocks(size.height * component.vertical, mostVertical)
            var bits = BitWriter()
            while left > 0 {
                let run = min(left, 0x7FFF)
                let magnitude = Int.bitWidth - 1 - run.leadingZeroBitCount
                bits.append(magnitude, count: 4)
                bits.append(run - 1 << magnitude, count: magnitude)
                left -= run
            }
            bytes += bits.finished()
        }
    }

    private static func blocks(_ samples: Int, _ most: Int) -> Int { (samples + 8 * most - 1) / (8 * most) }
}

/// Packs bits as a JPEG scan does: the highest first, a zero byte behind each 0xFF, ones to fill the last byte.
private struct BitWriter {
    private var bytes: [UInt8] = []
    private var pending = 0
    private var count = 0

    mutating func append(_ bits: Int, count added: Int) {
        pending = pending << added | bits
        count += added
        while count >= 8 {
            count -= 8
            let byte = UInt8(truncatingIfNeeded: pending >> count)
            bytes.append(byte)
            if byte == 0xFF { bytes.append(0) }
        }
        pending &= 1 << count - 1
    }

    mutating func finished() -> [UInt8] {
        if count > 0 { append(1 << (8 - count) - 1, count: 8 - count) }
        return bytes
    }
}
