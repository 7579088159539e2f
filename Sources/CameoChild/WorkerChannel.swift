internal import CLinux
internal import CameoModel
package import CameoRenderMessages
package import CameoSystem
package import Foundation
internal import Glibc

/// A child's end of the socket. Its calls block, because the child has nothing else to do.
package struct WorkerChannel: Sendable {
    private let socket = RendererProtocol.socketDescriptor

    /// Waits for a job with the files of its source and, in the job's order, of its overlays. Nil if the worker has
    /// closed the socket.
    private func receiveJob() throws -> (job: JobMessage, source: OpenFile, overlays: [OpenFile])? {
        var start = [UInt8](repeating: 0, count: FrameHeader.byteCount)
        var descriptors = [Int32](repeating: -1, count: CAMEO_MAXIMUM_DESCRIPTORS)
        var descriptorCount = 0
        let count = cameo_receive_with_descriptors(socket, &start, start.count, &descriptors, &descriptorCount)
        guard count != 0 else { return nil }
        guard count > 0 else { throw Errno() }
        let files = descriptors.prefix(descriptorCount).map { OpenFile(adopting: $0) }
        guard let source = files.first else { throw MalformedMessage("a job came without its source's descriptor") }
        try receive(into: &start, from: count)
        let header = try FrameHeader(decoding: start)
        guard header.kind == .job else { throw MalformedMessage("expected a job, not \(header.kind)") }
        var text = [UInt8](repeating: 0, count: header.length)
        try receive(into: &text, from: 0)
        let job = try JobMessage(decoding: text)
        guard job.overlays.count == files.count - 1 else {
            throw MalformedMessage("a job with \(job.overlays.count) overlays came with \(files.count) descriptors")
        }
        return (job, source, Array(files.dropFirst()))
    }

    /// Says what the child is, and answers one job after another until the worker hangs up. The hook may answer for a source
    /// instead; tests misbehave through it. Ends the program if the worker cannot be understood.
    package static func serve(
        _ program: String,
        _ hello: HelloMessage,
        hook: (OpenFile) -> RefusalMessage?,
        answer: (JobMessage, OpenFile, [OpenFile], WorkerChannel) throws -> Void
    ) {
        let channel = WorkerChannel()
        do {
            try channel.send(hello)
            while let (job, source, overlays) = try channel.receiveJob() {
                if let refusal = hook(source) {
                    try channel.send(refusal)
                } else {
                    try answer(job, source, overlays, channel)
                }
            }
        } catch {
            Refusal.end("\(program): \(error)")
        }
    }

    package func send(_ message: some RenderMessage) throws(Errno) {
        try send(Data(message.frame))
    }

    package func send(_ data: Data) throws(Errno) {
        var rest = data
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                cameo_send_with_descriptors(socket, $0.baseAddress, $0.count, nil, 0, true)
            }
            guard count >= 0 else { throw Errno() }
            rest = rest.dropFirst(count)
        }
    }

    private func receive(into bytes: inout [UInt8], from offset: Int) throws {
        var filled = offset
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes { buffer in
                read(socket, buffer.baseAddress?.advanced(by: filled), buffer.count - filled)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Errno() }
            guard count > 0 else { throw MalformedMessage("the worker closed the socket within a message") }
            filled += count
        }
    }
}
