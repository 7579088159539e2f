internal import CameoModel
internal import Foundation

// DESIGN. A move is one loop over pages of records. The receiving store remembers the position in the transaction that
// stores a page, so that a move that was broken off anywhere goes on there, and nothing is there twice. Before the source
// counts as moved and the destination opens, both are read from the beginning and compared.

/// Moves a store to another place, or goes on with that.
package struct Move: Sendable {
    package typealias Party = Store & MovableStore

    private let source: any Party
    private let destination: any Party
    /// How many blobs' bytes are on the way at a time.
    private static let transfers = 8
    /// The size of all bytes on the way from which on no other blob is added.
    private static let transferSize = 32 * 1_048_576

    package init(from source: any Party, to destination: any Party) {
        self.source = source
        self.destination = destination
    }

    /// - Parameter report: called after each page; if it throws, the move stops and can go on later.
    /// - Returns: what was moved. If it names differences, both stores stay closed.
    /// - Throws: ``StoreError``; what `report` throws.
    package func run(report: (MoveProgress) throws -> Void = { _ in }) async throws -> MoveReport {
        let known = try await source.move(.away)
        // Before the source is closed for a place that cannot take it.
        _ = try await destination.reception(of: known?.id)
        let move = try await source.beginMove(to: destination.location)
        let reception = try await destination.beginReception(of: move.id, from: source.location)
        var result = MoveReport()
        result.wasBegun = reception.position != nil
        if !reception.isEnded {
            try await copy(from: reception.position, &result, report)
            try await destination.completeReception()
            try await compare(&result, report)
            guard result.differences.isEmpty else { return result }
        }
        try await source.endMove()
        if !reception.isEnded { try await destination.endReception() }
        return result
    }

    /// Compares the records of both stores, and reads the bytes of all blobs at the destination.
    package func verify(report: (MoveProgress) throws -> Void = { _ in }) async throws -> MoveReport {
        var result = MoveReport()
        try await compare(&result, report)
        try await readBytes(&result, report)
        return result
    }

    // MARK: - Copying

    private func copy(
        from position: StoreMove.Position?,
        _ result: inout MoveReport,
        _ report: (MoveProgress) throws -> Void
    ) async throws {
        let total = try await total()
        var (kind, cursor, done) = (RecordKind.allCases.first, StoreCursor?.none, 0)
        if let position {
            (kind, cursor) = position.cursor == nil ? (position.kind.next, nil) : (position.kind, position.cursor)
            done = try await arrived()
        }
        while let current = kind {
            var page = try await source.records(of: current, after: cursor, limit: current.pageLength)
            while let last = page.last {
                // The next page is read while this one is written.
                async let following = source.records(of: current, after: last.cursor, limit: current.pageLength)
                result.bytes += try await write(page, of: current)
                done += page.count
                try report(MoveProgress(step: .copying(current), done: done, total: total, bytes: result.bytes))
                page = try await following
            }
            try await destination.receive([], StoreMove.Position(kind: current, cursor: nil))
            (kind, cursor) = (current.next, nil)
        }
    }

    /// - Returns: the number of bytes of blobs.
    private func write(_ page: [StoreRecord], of kind: RecordKind) async throws -> Int {
        guard kind == .blob else {
            try await receive(page, of: kind)
            return 0
        }
        var (rest, bytes) = (page[...], 0)
        while !rest.isEmpty {
            var (count, size) = (0, 0)
            while count < rest.count, count == 0 || size < Self.transferSize {
                size += rest[rest.startIndex + count].blobSize
                count += 1
            }
            try await receive(try await transfer(Array(rest.prefix(count))), of: kind)
            rest = rest.dropFirst(count)
            bytes += size
        }
        return bytes
    }

    /// Brings the bytes of blobs to the destination.
    private func transfer(_ blobs: [StoreRecord]) async throws -> [StoreRecord] {
        try await withThrowingTaskGroup(of: (Int, StoreRecord).self) { group in
            var (ready, next) = (blobs, 0)
            func start() {
                guard next < blobs.count else { return }
                let (index, blob) = (next, blobs[next])
                next += 1
                group.addTask { [source, destination] in
                    let data = try await source.data(of: blob.digest)
                    return (index, try await destination.receive(data, of: blob))
                }
            }
            for _ in 0..<Self.transfers { start() }
            while let (index, blob) = try await group.next() {
                ready[index] = blob
                start()
            }
            return ready
        }
    }

    /// Stores records, and names the one that cannot be stored.
    private func receive(_ records: [StoreRecord], of kind: RecordKind) async throws(StoreError) {
        guard let last = records.last else { return }
        do throws(StoreError) {
            try await destination.receive(records, StoreMove.Position(kind: kind, cursor: last.cursor))
        } catch {
            guard case .refused(let reason) = error else { throw error }
            guard records.count > 1 else {
                let name = last.values.prefix(kind.keyLength).map(\.shortText).joined(separator: " ")
                throw .refused(reason: "\(kind.rawValue) \(name): \(reason)")
            }
            for record in records { try await receive([record], of: kind) }
        }
    }

    private func total() async throws(StoreError) -> Int {
        var total = 0
        for kind in RecordKind.allCases { total += try await source.count(of: kind) }
        return total
    }

    /// How many records earlier runs have moved.
    private func arrived() async throws(StoreError) -> Int {
        var count = 0
        for kind in RecordKind.allCases where kind != .number { count += try await destination.count(of: kind) }
        return count
    }

    // MARK: - Comparing

    private func compare(_ result: inout MoveReport, _ report: (MoveProgress) throws -> Void) async throws {
        let total = try await total()
        var done = 0
        for kind in RecordKind.allCases {
            var (here, there) = (PartialSum(), PartialSum())
            while !here.isAtEnd || !there.isAtEnd {
                let (before, last) = (here, there)
                async let following = last.next(of: kind, in: destination)
                here = try await before.next(of: kind, in: source)
                there = try await following
                let count = done + here.sum.count
                try report(
                    MoveProgress(step: .comparing(kind), done: count, total: max(count, total), bytes: result.bytes)
                )
            }
            result.sums[kind] = here.sum
            if here.sum != there.sum { result.differences.append((kind, here.sum, there.sum)) }
            done += here.sum.count
        }
    }

    /// The sum of a store's first records of a kind.
    private struct PartialSum: Sendable {
        var sum = RecordSum()
        var isAtEnd = false
        private var cursor: StoreCursor?

        /// Adds the next page.
        func next(of kind: RecordKind, in store: any Party) async throws(StoreError) -> PartialSum {
            guard !isAtEnd else { return self }
            let page = try await store.records(of: kind, after: cursor, limit: kind.pageLength)
            var next = self
            for record in page { next.sum.add(record) }
            (next.cursor, next.isAtEnd) = (page.last?.cursor, page.isEmpty)
            return next
        }
    }

    /// Reads all bytes at the destination, which verifies them.
    private func readBytes(_ result: inout MoveReport, _ report: (MoveProgress) throws -> Void) async throws {
        let total = try await destination.count(of: .blob)
        var (done, cursor) = (0, StoreCursor?.none)
        while true {
            let page = try await destination.records(of: .blob, after: cursor, limit: RecordKind.blob.pageLength)
            guard let last = page.last else { return }
            cursor = last.cursor
            for blob in page {
                do throws(StoreError) {
                    result.bytes += try await destination.data(of: blob.digest).count
                } catch {
                    guard case .damagedBlob(let digest) = error else { throw error }
                    result.damaged.append(digest)
                }
            }
            done += page.count
            try report(MoveProgress(step: .reading, done: done, total: max(done, total), bytes: result.bytes))
        }
    }
}
