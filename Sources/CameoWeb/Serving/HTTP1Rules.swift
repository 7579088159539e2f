internal import CameoModel
internal import HTTPTypes
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// What HTTP/1 asks of a server besides framing (RFC 9112), and the framework leaves out: it stands between the parser and
/// the framework, on each connection.
final class HTTP1Rules: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Tells a client that holds its body back to send it (RFC 9110, section 10.1.1). Others are told nothing.
    struct BodyIsWanted: Sendable {}

    /// Puts the rules in their place, and answers at once behind them.
    final class Installer: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = Any
        private let site: Site

        init(_ site: Site) { self.site = site }

        func handlerAdded(context: ChannelHandlerContext) {
            do {
                let pipeline = context.pipeline.syncOperations
                let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
                let rules = HTTP1Rules(site)
                try pipeline.addHandler(rules, position: .after(parser))
                try pipeline.addHandler(AnswersAtOnce(site), position: .after(rules))
            } catch {
                context.close(promise: nil)
            }
        }
    }

    static func configuration(idleTimeout: TimeAmount, _ site: Site) -> HTTP1Channel.Configuration {
        .init(additionalChannelHandlers: [Installer(site)], idleTimeout: idleTimeout)
    }

    private struct Exchange {
        let path: Substring
        /// HTTP/1.0: its client knows no chunks.
        let isOld: Bool
        /// Whether the client wants no other response on the connection. The framework ends it.
        let isLast: Bool
        var holdsBodyBack: Bool
        var isRead = false
    }

    /// How long a client that is still sending has to read the response: closing the connection at once could discard it
    /// (RFC 9112, section 9.6).
    private static var lingering: TimeAmount { .seconds(2) }

    private let logger: Logger
    private let origins: AllowedOrigins?

    /// The requests whose responses have not ended, oldest first.
    private var exchanges: [Exchange] = []
    /// Whether a response is being written.
    private var isResponding = false
    /// Whether the connection ends with that.
    private var isEnding = false
    /// What is wrong with the request after those; nil if nothing is.
    private var refusal: HTTPParserError?
    /// The paths of the responses that have ended, but not all of which the system has taken.
    private var unsent: [Substring] = []
    /// Looks after a connection that is to be closed once they are sent.
    private var closing: Scheduled<Void>?

    init(_ site: Site) { (logger, origins) = (site.logger, site.configuration.allowedOrigins) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard closing == nil else { return }
        switch unwrapInboundIn(data) {
        case .head(var head):
            let isOld = head.version == .http1_0
            let expects = head.headers["Expect"].contains { $0.lowercased() == "100-continue" }
            let isLast = isOld || !head.isKeepAlive
            let path = head.uri.prefix { $0 != "?" }
            exchanges.append(Exchange(path: path, isOld: isOld, isLast: isLast, holdsBodyBack: expects && !isOld))
            if isOld {
                head.headers.remove(name: "Expect")
                // Only browsers can be led here by another name, and they speak HTTP/1.1.
                if !head.headers.contains(name: "Host") { head.headers.add(name: "Host", value: "localhost") }
            }
            // The framework knows no other spelling.
            if isLast { head.headers.replaceOrAdd(name: "Connection", value: "close") }
            context.fireChannelRead(wrapInboundOut(.head(head)))
        case .body:
            exchanges.indices.last.map { exchanges[$0].holdsBodyBack = false }
            context.fireChannelRead(data)
        case .end:
            exchanges.indices.last.map { exchanges[$0].isRead = true }
            context.fireChannelRead(data)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError, exchanges.allSatisfy(\.isRead) else {
            // Whoever reads the body answers.
            context.fireErrorCaught(error)
            return
        }
        refusal = error
        if exchanges.isEmpty { refuse(context) }
    }

    private func refuse(_ context: ChannelHandlerContext) {
        guard let refusal else { return }
        let problem = Problem(.badRequest, "the request is malformed: \(refusal)")
        let text = ByteBuffer(string: problem.json.canonicalText + "\n")
        var headers: HTTPHeaders = [
            "Content-Type": Problem.mediaType, "Content-Length": "\(text.readableBytes)", "Connection": "close",
        ]
        for field in origins?.fields(for: nil) ?? [:] { headers.add(name: field.name.rawName, value: field.value) }
        let head = HTTPResponseHead(version: .http1_1, status: .badRequest, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(text))), promise: nil)
        end(with: wrapOutboundOut(.end(nil)), of: "", context, promise: nil)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is BodyIsWanted else {
            context.triggerUserOutboundEvent(event, promise: promise)
            return
        }
        promise?.succeed()
        guard exchanges.first?.holdsBodyBack == true else { return }
        exchanges[0].holdsBodyBack = false
        let head = HTTPResponseHead(version: .http1_1, status: .continue)
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            let exchange = exchanges.first
            isResponding = true
            // What a client goes on sending after its answer, at whatever pace, nobody needs.
            isEnding = exchange?.isRead == false
            if exchange?.isOld == true { head.version = .http1_0 }
            if isEnding || exchange?.isLast == true { head.headers.replaceOrAdd(name: "Connection", value: "close") }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            isResponding = false
            let path = exchanges.isEmpty ? "" : exchanges.removeFirst().path
            guard !isEnding else {
                end(with: data, of: path, context, promise: promise)
                return
            }
            context.writeAndFlush(data, promise: noting(path, context, promise))
            if exchanges.isEmpty { refuse(context) }
        }
    }

    private func end(
        with last: NIOAny,
        of path: Substring,
        _ context: ChannelHandlerContext,
        promise: EventLoopPromise<Void>?
    ) {
        let sent = noting(path, context, promise)
        sent.futureResult.whenComplete { [channel = context.channel] _ in
            channel.close(mode: .output, promise: nil)
            channel.eventLoop.scheduleTask(in: Self.lingering) { channel.close(promise: nil) }
        }
        context.writeAndFlush(last, promise: sent)
    }

    /// A promise of the last write of a response, which counts as unsent until then.
    private func noting(
        _ path: Substring,
        _ context: ChannelHandlerContext,
        _ promise: EventLoopPromise<Void>?
    ) -> EventLoopPromise<Void> {
        unsent.append(path)
        let sent = promise ?? context.eventLoop.makePromise()
        sent.futureResult.assumeIsolated().whenComplete { [self] _ in
            unsent.removeFirst()
            if closing != nil, unsent.isEmpty { context.close(promise: nil) }
        }
        return sent
    }

    /// Closing discards what is not sent, so it waits for that, as long as the client takes some of it. The framework closes
    /// for reading when a grace is over.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch mode {
        case .all where !unsent.isEmpty:
            context.channel.closeFuture.cascade(to: promise)
            if closing == nil { watch(context) }
        case .input:
            for path in unsent + exchanges.prefix(isResponding ? 1 : 0).map(\.path) {
                logger.warning("response cut off at shutdown", metadata: ["path": "\(path)"])
            }
            context.close(mode: unsent.isEmpty ? mode : .all, promise: promise)
        default: context.close(mode: mode, promise: promise)
        }
    }

    private func watch(_ context: ChannelHandlerContext) {
        let left = try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)
        closing = context.eventLoop.assumeIsolated().scheduleTask(in: FileBody.patience) { [self] in
            let bytes = try context.channel.syncOptions?.getOption(.bufferedWritableBytes)
            if left == bytes { context.close(promise: nil) } else { watch(context) }
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { closing?.cancel() }
}
