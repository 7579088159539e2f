internal import CameoHTTPCache
internal import CameoModel
internal import CameoStore
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOHTTP1

// DESIGN. Through the framework a request passes from thread to thread, which costs several times as much as a small
// picture. So GET of a thumbnail is answered where the request is read, on the connection's event loop, if the request has
// only fields that decide nothing about the answer (``Route/neutralFields``), the store says at once what the name refers
// to, and its bytes are in memory, or the client's. Anything else takes the way of all requests, to the same rules.

/// Gives thumbnails on a connection, in place of the framework. It stands behind ``HTTP1Rules``.
final class AnswersAtOnce: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// How often the framework gets a request at least: it closes connections on which it has seen none for a minute.
    private static let longestSilence = TimeAmount.seconds(20)

    private let site: Site
    private let path: String
    /// The requests that the framework has not answered. Answers keep the order of their requests.
    private var passedOn = 0
    private var lastPassedOn = NIODeadline.now()
    /// The answer to the request that is being read.
    private var answer: (head: HTTPResponseHead, body: ByteBuffer)?
    /// What the last request named.
    private var host: (text: String, name: HostName?) = ("", nil)
    private var date: (second: Int, text: String) = (0, "")

    init(_ site: Site) {
        self.site = site
        path = "\(site.configuration.basePath)/\(Route.thumbnail.rawValue)/"
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            let now = NIODeadline.now()
            // The framework waits for a client that does not read its answers.
            let mayAnswer = passedOn == 0 && context.channel.isWritable && now < lastPassedOn + Self.longestSilence
            answer = mayAnswer ? answer(to: head, on: context.channel) : nil
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

    /// The whole thumbnail, or 304; nil if the framework is to answer.
    private func answer(to head: HTTPRequestHead, on channel: any Channel) -> (HTTPResponseHead, ByteBuffer)? {
        guard head.method == .GET, head.version == .http1_1, head.uri.hasPrefix(path),
            let name = ThumbnailName(Substring(head.uri.utf8.dropFirst(path.utf8.count)))
        else { return nil }
        var (host, origin, tag, hasDate) = (String?.none, String?.none, String?.none, false)
        for (name, value) in head.headers {
            let name = name.lowercased()
            switch name {
            case "host" where host == nil: host = value
            case "origin" where origin == nil: origin = value
            case "if-none-match" where tag == nil: tag = value
            case "if-modified-since": hasDate = true
            case "connection" where value.lowercased() == "keep-alive": break
            case _ where Route.neutralFields.contains(name): break
            default: return nil
            }
        }
        // Who has the content's tag is not asked for its date (RFC 9110, section 13.2.2).
        guard let host, isServed(host, on: channel), tag != nil || !hasDate,
            let content = site.store.contentAtOnce(of: name.id), name.fits(content),
            tag == nil || tag == content.entityTag
        else { return nil }
        let blob = site.memory.blob(content.digest)
        guard blob != nil || tag != nil else { return nil }
        site.store.noteReading(of: .thumbnail(name.id))
        var headers = HTTPHeaders(fields(of: content, blob, isWhole: tag == nil))
        // They are not kept with the content: they are this client's.
        for field in site.configuration.allowedOrigins?.fields(for: origin) ?? [:] {
            headers.add(name: field.name.rawName, value: field.value)
        }
        headers.add(name: "Date", value: dateNow)
        let status = tag == nil ? HTTPResponseStatus.ok : .notModified
        let body = tag == nil ? ByteBuffer(bytes: blob?.data ?? Data()) : ByteBuffer()
        site.counters.count(.thumbnail, Int(status.code), bytes: body.readableBytes)
        return (HTTPResponseHead(version: .http1_1, status: status, headers: headers), body)
    }

    private func isServed(_ host: String, on channel: any Channel) -> Bool {
        if host != self.host.text { self.host = (host, HostName(host)) }
        return self.host.name?.isServed(on: channel, site.configuration) ?? false
    }

    /// Those of 304 stand first. With bytes in memory, they are composed once for a content.
    private func fields(of content: StoredContent, _ blob: HeldBlob?, isWhole: Bool) -> [(String, String)] {
        let all: [(name: String, value: String)]
        if let head = blob?.head, head.content == content {
            all = head.fields
        } else {
            var fields = site.configuration.fields(of: content)
            fields[.xContentTypeOptions] = WebResponder.contentTypeOptions
            if let blob {
                fields.append(contentsOf: WebExchange.fields(of: content, blob.data, blob.data.count))
            }
            all = fields.map { ($0.name.rawName, $0.value) }
            if blob != nil { site.memory.note(all, of: content) }
        }
        return isWhole ? all : Array(all.prefix { $0.name != HTTPField.Name.contentType.rawName })
    }

    private var dateNow: String {
        let time = Date()
        let second = Int(time.timeIntervalSince1970)
        if date.second != second { date = (second, HTTPDate.text(of: time)) }
        return date.text
    }
}
