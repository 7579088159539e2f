internal import CLinux
internal import CameoModel
internal import CameoRenderMessages
internal import CameoSystem
internal import Foundation
internal import Glibc

/// Assembles a message from whatever has arrived. Nothing is trusted: every length is checked before memory is
/// allocated for it.
struct ReplyReader {
    enum Progress {
        /// More data is needed.
        case incomplete
        case complete(Reply)
        /// The child has closed its end.
        case ended
    }

    private enum Phase {
        case header
        case text(FrameHeader)
        /// The bytes of a rendition, by its number.
        case bytes(RenderedPicture, Int)
    }

    /// What the job asked for; a picture that does not match is rejected before its bytes are read. Nil if none is expected.
    private let expectation: ReplyExpectation?
    private var phase = Phase.header
    private var buffer = Data(count: FrameHeader.byteCount)
    private var filled = 0

    init(expecting expectation: ReplyExpectation?) { self.expectation = expectation }

    /// Reads without blocking until the message is complete or no more data is available.
    mutating func read(from socket: Int32) throws(MalformedMessage) -> Progress {
        while true {
            while filled < buffer.count {
                let offset = filled
                let count = buffer.withUnsafeMutableBytes { bytes in
                    recv(socket, bytes.baseAddress?.advanced(by: offset), bytes.count - offset, Int32(MSG_DONTWAIT))
                }
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN { return .incomplete }
                guard count > 0 else { return .ended }
                filled += count
            }
            if let reply = try advance() { return .complete(reply) }
        }
    }

    /// Interprets the full buffer and prepares the next one.
    private mutating func advance() throws(MalformedMessage) -> Reply? {
        switch phase {
        case .header:
            let header = try FrameHeader(decoding: buffer)
            expect(header.length, .text(header))
            return nil
        case .text(let header):
            switch header.kind {
            case .hello: return .hello(try HelloMessage(decoding: buffer))
            case .refusal: return .refusal(try RefusalMessage(decoding: buffer))
            case .job: throw MalformedMessage("a renderer does not send jobs")
            case .picture:
                let picture = try RenderedPicture(decoding: buffer)
                guard let expectation, !expectation.renditions.isEmpty else {
                    throw MalformedMessage("an unrequested picture arrived")
                }
                try expectation.check(picture)
                return next(of: picture, 0)
            }
        case .bytes(var picture, let index):
            try expectation?.check(buffer, of: picture.renditions[index])
            picture.renditions[index].bytes = buffer
            return next(of: picture, index + 1)
        }
    }

    private mutating func next(of picture: RenderedPicture, _ index: Int) -> Reply? {
        guard index < picture.renditions.count else { return .picture(picture) }
        expect(picture.renditions[index].byteCount, .bytes(picture, index))
        return nil
    }

    private mutating func expect(_ count: Int, _ phase: Phase) {
        self.phase = phase
        buffer = Data(count: count)
        filled = 0
    }
}

/// One complete message from a child.
enum Reply {
    case hello(HelloMessage)
    case refusal(RefusalMessage)
    case picture(RenderedPicture)
}

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

/// Sanitises a child's text for messages and logs, since a compromised child chooses it.
enum ChildText {
    enum Part {
        case start, end
    }

    /// The most Unicode scalars that are kept.
    private static let maximumScalars = 500

    /// The text on one line, without characters that a terminal or log reader would treat as more than text: control
    /// and format characters (which include those that change the writing direction) and line separators. A text that
    /// is too long is shortened to its start or end.
    static func printable(_ text: String, keeping part: Part = .start) -> String {
        let scalars = text.unicodeScalars.filter(\.isText)
        guard scalars.count > maximumScalars else { return String(String.UnicodeScalarView(scalars)) }
        switch part {
        case .start: return String(String.UnicodeScalarView(scalars.prefix(maximumScalars - 1))) + "…"
        case .end: return "…" + String(String.UnicodeScalarView(scalars.suffix(maximumScalars - 1)))
        }
    }
}
