internal import ArgumentParser
package import CameoStore
package import CameoWeb
internal import CommandSupport

/// The options for listening and responding.
struct ServerOptions: ParsableArguments {
    @Option(
        help: """
            HOST:PORT, :PORT for all IPv4 addresses, or unix:PATH. Port 0 picks a free one. A socket that systemd passes \
            on takes precedence.
            """.taking("address")
    )
    var listen = ListenAddress.standard

    @Option(
        help: "The prefix of every path, such as /cameo, if a proxy does not strip it. (default: none)".taking("path")
    )
    var basePath = ""

    @Option(help: "How long browsers and proxies may show a thumbnail before they revalidate it.".taking("time"))
    var maxAge = WebConfiguration().thumbnailAge

    @Option(help: "How long caches may show a thumbnail after that while they ask for a newer one.".taking("time"))
    var staleWhileRevalidate = WebConfiguration().thumbnailStaleness

    @Option(help: "The largest picture that POST /jobs accepts, at most 100M.".taking("size"))
    var maxUpload = ByteCount(WebConfiguration().maximumUpload)

    @Option(help: "Hold so much of the recently read thumbnails in memory; 0 for none.".taking("size"))
    var memoryCapacity = ByteCount(WebConfiguration().memoryCapacity)

    @Flag(
        help: """
            Redirect loads of pictures that are in a bucket (--blobs s3://…) to URLs that are signed for an hour, so that \
            their bytes do not pass through this server.
            """
    )
    var redirectBlobs = false

    @Option(
        help: """
            The bucket's server in these URLs, https://host, if clients reach it by another name than --blobs has. \
            (default: the endpoint in --blobs)
            """.taking("url")
    )
    var publicEndpoint: Endpoint?

    @Option(help: "Fail /health/ready when a job has waited longer than this. (default: no limit)".taking("time"))
    var maxLag: Duration?

    @Option(help: "How long responses in progress may go on at shutdown.".taking("time"))
    var grace = Duration.seconds(25)

    func validate() throws {
        guard basePath.isEmpty || basePath.wholeMatch(of: #/(\/[A-Za-z0-9._~-]+)+/#) != nil, !basePath.contains("/.")
        else {
            throw ValidationError("--base-path \(basePath): must be a path such as /cameo, without a trailing /")
        }
        guard (1...StoreLimits.uploadBytes).contains(maxUpload.bytes) else {
            throw ValidationError("--max-upload \(maxUpload): must be 1 byte to 100M")
        }
        guard publicEndpoint == nil || redirectBlobs else {
            throw ValidationError("--public-endpoint: has no effect without --redirect-blobs")
        }
    }

    /// - Throws: ``CommandFailure`` if blobs are to be redirected and the store has nothing to redirect to.
    func redirects(of store: some Store) throws -> BlobRedirects? {
        guard redirectBlobs else { return nil }
        guard let redirects = BlobRedirects(of: store, at: publicEndpoint) else {
            throw CommandFailure(
                """
                --redirect-blobs: the store \(store.location) keeps no pictures in a bucket. Only a database does, in a build \
                for fleets, with --blobs s3://…
                """,
                .usage
            )
        }
        return redirects
    }
}

extension Endpoint: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

extension ListenAddress: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }

    package var defaultValueDescription: String { description }
}
