internal import CameoModel
internal import Foundation
internal import Glibc

/// Takes the body of one answer, on the thread of its transfer.
final class BodyReceiver {
    private let destination: BodyDestination
    private let isCancelled: () -> Bool
    private(set) var body = Data()
    /// The number of bytes received.
    private(set) var received = 0
    /// Why the receiver has ended the transfer.
    private(set) var failure: TransferFailure?

    /// - Throws: `Errno` if the destination's file cannot be emptied.
    init(_ destination: BodyDestination, isCancelled: @escaping () -> Bool) throws(Errno) {
        self.destination = destination
        self.isCancelled = isCancelled
        guard case .file(let file, _) = destination else { return }
        guard ftruncate(file.descriptor, 0) == 0, lseek(file.descriptor, 0, SEEK_SET) == 0 else { throw Errno() }
    }

    /// Takes the next part of the body. The body of an error is text for memory, and is cut at its limit.
    ///
    /// - Parameters:
    ///   - bytes: the part.
    ///   - status: the answer's status.
    ///   - announced: the length of the whole body; negative if it is unknown.
    /// - Returns: whether to go on.
    func receive(_ bytes: UnsafeRawBufferPointer, status: Int, announced: Int) -> Bool {
        guard (200..<300).contains(status) else {
            received += bytes.count
            body.append(contentsOf: bytes.prefix(HTTPResponse.textLimit - body.count))
            return received <= HTTPResponse.textLimit
        }
        guard received + bytes.count <= destination.limit, announced <= destination.limit else {
            failure = .longBody
            return false
        }
        if received == 0, announced > 0, case .memory = destination { body.reserveCapacity(announced) }
        received += bytes.count
        switch destination {
        case .memory: body.append(contentsOf: bytes)
        case .file(let file, _):
            do throws(Errno) {
                try file.write(bytes)
            } catch {
                failure = .file(error)
                return false
            }
        }
        return true
    }

    /// Whether the transfer goes on. Asked whenever bytes move, and about once a second.
    func mayGoOn() -> Bool {
        guard failure == nil, isCancelled() else { return failure == nil }
        failure = .cancelled
        return false
    }
}
