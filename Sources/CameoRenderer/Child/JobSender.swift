internal import CLinux
internal import CameoModel
internal import CameoRenderMessages
internal import Glibc

/// Sends a job as fast as the child reads it, without blocking.
struct JobSender {
    private var rest: ArraySlice<UInt8>
    /// The descriptors of the source and of its overlays, sent with the first byte.
    private var descriptors: [Int32]

    /// The caller keeps the files open until the job is sent.
    init(_ frame: [UInt8], files: [OpenFile]) {
        rest = frame[...]
        descriptors = files.map(\.descriptor)
    }

    var isDone: Bool { rest.isEmpty }

    /// Sends what the socket takes now; throws if the child has closed it.
    mutating func send(to socket: Int32) throws(Errno) {
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                cameo_send_with_descriptors(socket, $0.baseAddress, $0.count, descriptors, descriptors.count, false)
            }
            if count < 0, errno == EAGAIN { return }
            guard count > 0 else { throw Errno() }
            rest = rest.dropFirst(count)
            descriptors = []
            if rest.isEmpty { KillPoint.midRender.pass() }
        }
    }
}
