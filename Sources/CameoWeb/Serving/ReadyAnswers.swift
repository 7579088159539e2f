internal import CameoHTTPCache
internal import CameoModel
internal import CameoStore
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

// DESIGN. Through the framework a request passes from thread to thread, which costs several times as much as a small
// picture. So an answer is given again where its request is read, on the connection's event loop, for a second: if the
// request has only fields that decide nothing about the answer (``Route/neutralFields``), the store says at once that the
// name still refers to the same content, and its bytes are in memory. Anything else takes the way of all requests, and
// makes the answer ready again.

/// Whole thumbnails that were served from memory, by what was asked for.
final class ReadyAnswers: Sendable {
    struct Answer: Sendable {
        fileprivate let id: ThumbnailID
        fileprivate let content: StoredContent
        fileprivate let whole: HTTPHeaders
        fileprivate let notModified: HTTPHeaders
        fileprivate var end: NIODeadline
    }

    private struct Request: Hashable {
        let target: String
        let host: String
    }

    /// The most answers, of some hundred bytes each.
    private static let capacity = 10_000
    private static let lifetime = TimeAmount.seconds(1)
    /// The fields of an answer that 304 has too.
    private static let ofBoth: Set<HTTPField.Name> = [.eTag, .cacheControl, .lastModified, .xContentTypeOptions]

    private let answers = Mutex<[Request: Answer]>([:])
    private let now = Mutex<(second: Int, text: String)>((0, ""))

    /// Makes the response to a request for a thumbnail ready to be given again. A 304 says that the last one still is right.
    func keep(_ response: Response, to request: Hummingbird.Request, of id: ThumbnailID, _ content: StoredContent) {
        guard request.method == .get, let host = request.head.authority, let target = request.head.path,
            !target.contains("?")
        else { return }
        let key = Request(target: target, host: host)
        if response.status == .notModified {
            answers.withLock { answers in
                if answers[key]?.content == content { answers[key]?.end = .now() + Self.lifetime }
            }
        }
        guard response.status == .ok else { return }
        var fields = response.headers
        fields[.xContentTypeOptions] = WebResponder.contentTypeOptions
        let ofBoth = fields.filter { Self.ofBoth.contains($0.name) }
        let answer = Answer(
            id: id,
            content: content,
            whole: HTTPHeaders(fields.map { ($0.name.rawName, $0.value) }),
            notModified: HTTPHeaders(ofBoth.map { ($0.name.rawName, $0.value) }),
            end: .now() + Self.lifetime
        )
        answers.withLock { answers in
            if answers.count >= Self.capacity { answers.removeAll(keepingCapacity: true) }
            answers[key] = answer
        }
    }

    /// The answer to a request; nil if it is not ready, or not for this one.
    func answer(to head: HTTPRequestHead, from site: Site) -> (head: HTTPResponseHead, body: ByteBuffer)? {
        guard head.method == .GET, head.version == .http1_1 else { return nil }
        var (host, tag, hasDate) = (String?.none, String?.none, false)
        for (name, value) in head.headers {
            let name = name.lowercased()
            switch name {
            case "host" where host == nil: host = value
            case "if-none-match" where tag == nil: tag = value
            case "if-modified-since": hasDate = true
            case "connection" where value.lowercased() == "keep-alive": break
            case _ where Route.neutralFields.contains(name): break
            default: return nil
            }
        }
        // Who has the content's tag is not asked for its date (RFC 9110, section 13.2.2).
        guard let host, tag != nil || !hasDate,
            let answer = answers.withLock({ $0[Request(target: head.uri, host: host)] }), answer.end > .now(),
            tag == nil || tag == answer.content.entityTag,
            site.store.contentAtOnce(of: answer.id) == answer.content,
            let data = site.memory.bytes(of: answer.content.digest)
        else { return nil }
        site.store.noteReading(of: .thumbnail(answer.id))
        var headers = tag == nil ? answer.whole : answer.notModified
        headers.add(name: "Date", value: date)
        let status = tag == nil ? HTTPResponseStatus.ok : .notModified
        let body = tag == nil ? ByteBuffer(bytes: data) : ByteBuffer()
        site.counters.count(.thumbnail, Int(status.code), bytes: body.readableBytes)
        return (HTTPResponseHead(version: .http1_1, status: status, headers: headers), body)
    }

    private var date: String {
        let time = Date()
        return now.withLock { now in
            let second = Int(time.timeIntervalSince1970)
            if now.second != second { now = (second, HTTPDate.text(of: time)) }
            return now.text
        }
    }
}

/// Gives ready answers on a connection, in place of the framework. It stands behind ``HTTP1Rules``.
final class ReadyAnswerHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// How often the framework gets a request at least: it closes connections on which it has seen none for a minute.
    private static let longestSilence = TimeAmount.seconds(20)

    private let site: Site
    /// The requests that the framework has not answered. Answers keep the order of their requests.
    private var passedOn = 0
    private var lastPassedOn = NIODeadline.now()
    /// The answer to the request that is being read.
    private var answer: (head: HTTPResponseHead, body: ByteBuffer)?

    init(_ site: Site) { self.site = site }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            let now = NIODeadline.now()
            // The framework waits for a client that does not read its answers.
            let mayAnswer = passedOn == 0 && context.channel.isWritable && now < lastPassedOn + Self.longestSilence
            answer = mayAnswer ? site.ready.answer(to: head, from: site) : nil
            guard answer == nil else { return }
            passedOn += 1
            lastPassedOn = now
        case .body: break
        case .end:
            guard let answer else { break }
            self.answer = nil
            context.write(wrapOutboundOut(.head(answer.head)), promise: nil)
            if answer.body.readableBytes > 0 {
                context.write(wrapOutboundOut(.body(.byteBuffer(answer.body))), promise: nil)
            }
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            return
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { passedOn -= 1 }
        context.write(data, promise: promise)
    }
}
