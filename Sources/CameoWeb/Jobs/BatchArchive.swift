internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CameoSystem
package import Foundation
internal import Hummingbird
internal import NIOCore

// DESIGN. The archive is written as it is read: of a batch of any size, one thumbnail is in memory, and for each its name and a
// line of the directory, which comes last. Pictures do not get smaller by compressing, so they are stored as they are.

/// The thumbnails of a batch as a ZIP file, whatever became of its jobs.
struct BatchArchive: Sendable {
    let store: any ReaderStore
    let batch: String
    let channel: any Channel

    private static let thumbnailsAtOnce = 100

    /// A page of the batch's thumbnails.
    func page(after cursor: String? = nil) async throws(StoreError) -> ThumbnailPage {
        var filter = ThumbnailFilter()
        filter.batch = batch
        return try await store.thumbnails(where: filter, after: cursor, limit: Self.thumbnailsAtOnce)
    }

    var responseBody: ResponseBody {
        ResponseBody { writer in
            do {
                try await write(to: &writer)
            } catch {
                // The status has been sent: closing tells the client that files are missing.
                channel.close(promise: nil)
                throw error
            }
            try await writer.finish(nil)
        }
    }

    @concurrent
    private func write(to writer: inout any ResponseBodyWriter) async throws {
        var archive = ZIPArchive()
        var (cursor, taken) = (String?.none, Set<String>())
        repeat {
            let page = try await page(after: cursor)
            for facts in page.thumbnails {
                guard let data = try await data(of: facts.thumbnail) else { continue }
                let paths = ExportPlace(facts).paths
                let path = paths.first { !taken.contains($0) } ?? paths[1]
                taken.insert(path)
                try await write(archive.add(data, named: path), to: &writer)
                try await write(data, to: &writer)
            }
            cursor = page.next
        } while cursor != nil
        try await write(archive.end, to: &writer)
    }

    /// Nil if there is none, or no more.
    private func data(of thumbnail: RequestedThumbnail) async throws(StoreError) -> Data? {
        guard thumbnail.blob != nil else { return nil }
        do {
            return try await store.data(of: thumbnail.uri)
        } catch StoreError.notFound {
            return nil
        }
    }

    @concurrent
    private func write(_ data: Data, to writer: inout any ResponseBodyWriter) async throws {
        for start in stride(from: data.startIndex, to: data.endIndex, by: VerifiedFiles.piece) {
            let piece = data[start..<min(start + VerifiedFiles.piece, data.endIndex)]
            try await FileBody.write(ByteBuffer(bytes: piece), to: &writer, on: channel)
        }
    }
}

/// A ZIP file of files that are stored without compression (PKWARE's APPNOTE, 6.3.10), with the 64-bit fields that it needs
/// beyond 4 GiB or 65,535 files.
package struct ZIPArchive {
    /// The system that made a file, which counts for its rights, and to unzip for the encoding of its name.
    private static let unix: UInt16 = 3 << 8

    private var directory = Data()
    private var count: UInt64 = 0
    private var offset: UInt64

    /// Creates an archive that begins at this offset of its file.
    package init(at offset: UInt64 = 0) { self.offset = offset }

    /// What is to be written before the bytes of the next file, which has less than 4 GiB.
    package mutating func add(_ data: Data, named name: String) -> Data {
        let crc = PNGFile.crc32(data)
        let isFar = offset >= UInt32.max
        // The version, names in UTF-8, no compression, midnight of 1 January 1980, the checksum, the size twice.
        var facts = Data()
        facts.append(all: UInt16(isFar ? 45 : 20), UInt16(0x0800), UInt16(0), UInt16(0), UInt16(0x21))
        facts.append(all: crc, UInt32(data.count), UInt32(data.count), UInt16(name.utf8.count))
        var header = Data("PK\u{3}\u{4}".utf8) + facts
        header.append(all: UInt16(0))
        header += name.utf8
        directory += Data("PK\u{1}\u{2}".utf8)
        directory.append(all: Self.unix | (isFar ? 45 : 20))
        directory += facts
        directory.append(all: UInt16(isFar ? 12 : 0), UInt16(0), UInt16(0), UInt16(0), UInt32(0o100644) << 16)
        directory.append(all: isFar ? UInt32.max : UInt32(offset))
        directory += name.utf8
        if isFar { directory.append(all: UInt16(1), UInt16(8), offset) }
        count += 1
        offset += UInt64(header.count + data.count)
        return header
    }

    /// What is to be written after the last file.
    package var end: Data {
        var end = directory
        let size = UInt64(directory.count)
        if count >= UInt16.max || offset >= UInt32.max || size >= UInt32.max {
            end += Data("PK\u{6}\u{6}".utf8)
            end.append(all: UInt64(44), Self.unix | 45, UInt16(45), UInt32(0), UInt32(0), count, count, size, offset)
            end += Data("PK\u{6}\u{7}".utf8)
            end.append(all: UInt32(0), offset + size, UInt32(1))
        }
        end += Data("PK\u{5}\u{6}".utf8)
        end.append(all: UInt16(0), UInt16(0), UInt16(clamping: count), UInt16(clamping: count))
        end.append(all: UInt32(clamping: size), UInt32(clamping: offset), UInt16(0))
        return end
    }
}

extension Data {
    /// Appends numbers, the lowest byte of each first.
    fileprivate mutating func append(all numbers: any FixedWidthInteger...) {
        for number in numbers { append(one: number) }
    }

    private mutating func append(one number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
