package import CameoModel
internal import CameoStore
package import CameoSystem
internal import Hummingbird

/// The settings of a server.
package struct WebConfiguration: Sendable {
    /// The prefix of every path: empty, or for example `/cameo`.
    package var basePath = ""
    /// The access tokens, which may be replaced while the server runs.
    package let liveTokens = Live(AccessTokens())
    /// The access tokens; if empty, anyone may read and nobody may write.
    package var tokens: AccessTokens {
        get { liveTokens.value }
        nonmutating set { liveTokens.value = newValue }
    }
    /// The names, besides those of loopback, that a server without tokens answers to.
    package var hosts: Set<HostName> = []
    /// The pages of other origins that may read the answers; nil: none.
    package var allowedOrigins: AllowedOrigins?
    /// The keys that sign `/make` URLs; any of them is accepted. If empty, `/make` is off unless ``allowsUnsigned`` is
    /// true.
    package var signingKeys: [SigningKey] = []
    /// Whether `/make` answers unsigned URLs.
    package var allowsUnsigned = false
    /// The keys that sign imgproxy's URLs; any of them is accepted. If empty, these URLs are not answered.
    package var imgproxyKeys: [ImgproxyKey] = []
    /// The presets that URLs and forms can name.
    package var presets = PresetFile([])
    /// How long a job may wait before `/health/ready` fails; nil for no limit.
    package var maximumLag: Duration?
    /// How long a thumbnail stays fresh in a browser or a proxy.
    package var thumbnailAge = Duration.seconds(60)
    /// How long a cache may show it after that while it asks for a newer one.
    package var thumbnailStaleness = Duration.seconds(86_400)
    /// The most bytes in an uploaded picture.
    package var maximumUpload = StoreLimits.uploadBytes
    /// The most bytes of uploads in progress that have arrived.
    package var maximumUploadsInFlight = 1_073_741_824
    /// How long a request's body may take to arrive; the default fits 100 MiB at 3 Mbit/s.
    package var bodyPatience = Duration.seconds(300)
    /// A body of which less than 1 KiB/s arrives for so long is ended.
    package var bodyPace = Duration.seconds(10)
    /// The maximum size in bytes of recently read thumbnails that are held in memory; 0 holds none.
    package var memoryCapacity = BlobMemory.standardCapacity
    /// Where large blobs are read from; nil: from this server.
    package var redirects: BlobRedirects?
    /// The longest silence on an event stream.
    package var keepAlive = Duration.seconds(15)
    /// The time between two entries of `/history`.
    package var historyPace = Duration.seconds(60)

    package init() {}
}

extension ListenAddress {
    /// The default, which other machines cannot reach.
    package static let standard = ListenAddress.tcp(host: "127.0.0.1", port: 8080)

    var bindAddress: BindAddress {
        switch self {
        case .tcp(let host, let port): .hostname(host, port: port)
        case .unix(let path): .unixDomainSocket(path: path)
        }
    }
}
