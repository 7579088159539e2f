// swift-tools-version: 6.2
import PackageDescription

// Whoever depends on this package with `traits: []` does not get the packages of cameo-web, not even in Package.resolved.
let web = TargetDependencyCondition.when(traits: ["Web"])
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird", condition: web)
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird", condition: web)
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types", condition: web)
let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio", condition: web)
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio", condition: web)
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio", condition: web)
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let signals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")

// The engine for fleets is a trait for packages that depend on this one, `Fleet`. Of its own targets SwiftPM builds those of
// a trait that is off too, which need libpq's headers: here CAMEO_FLEET=1 adds them, and turns the trait on.
let isForFleets = Context.environment["CAMEO_FLEET"] == "1"
let isDependency = Context.packageDirectory == "/" || Context.packageDirectory.contains("/checkouts/")
let hasFleet = isForFleets || isDependency
let engines = ["CameoPostgreSQL", "CameoObjectStorage"]
    .map { Target.Dependency.target(name: $0, condition: .when(traits: ["Fleet"])) }

let package = Package(
    name: "cameo",
    products: [
        .library(name: "Cameo", targets: ["Cameo"]),
        .executable(name: "cameo-enqueue", targets: ["cameo-enqueue"]),
        .executable(name: "cameo-worker", targets: ["cameo-worker"]),
        .executable(name: "cameo-renderer", targets: ["cameo-renderer"]),
        .executable(name: "cameo-status", targets: ["cameo-status"]),
        .executable(name: "cameo-admin", targets: ["cameo-admin"]),
        .executable(name: "cameo-web", targets: ["cameo-web"]),
    ],
    traits: Set(
        [
            .default(enabledTraits: isForFleets ? ["Web", "Fleet"] : ["Web"]),
            .trait(name: "Web", description: "cameo-web"),
        ] + (hasFleet ? [.trait(name: "Fleet", description: "PostgreSQL and S3; needs libpq's headers")] : [])
    ),
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        // For cameo-web alone: no other product builds them. Each of their products has the condition `web`.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        // C libraries and system calls that Swift cannot see by itself; each header says why it exists.
        .systemLibrary(name: "CVips", pkgConfig: "vips", providers: [.apt(["libvips-dev"])]),
        .systemLibrary(name: "CWebP", pkgConfig: "libwebp", providers: [.apt(["libwebp-dev"])]),
        .systemLibrary(name: "CHEIF", pkgConfig: "libheif", providers: [.apt(["libheif-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .target(name: "CLinux"),
        .target(name: "CMemory"),
        .target(name: "CSandbox"),
        .target(name: "CJPEG", linkerSettings: [.linkedLibrary("jpeg")]),
        .target(name: "CJXL", linkerSettings: [.linkedLibrary("jxl")]),
        .target(name: "CZlib", linkerSettings: [.linkedLibrary("z")]),

        // The modules, in the order in which a request passes through them.
        .target(name: "CameoSystem", dependencies: ["CCrypto", "CLinux"]),
        .target(
            name: "CameoModel",
            dependencies: ["CameoSystem"],
            // A link to the file of proto-json.
            resources: [.embedInCode("built-in.json")]
        ),
        .target(name: "CameoHTTPCache", dependencies: ["CameoModel"]),
        .target(name: "CameoStore", dependencies: ["CameoSystem", "CameoModel", "CameoHTTPCache", "CLinux"]),
        .target(name: "CameoQueue", dependencies: ["CameoModel", "CameoHTTPCache", "CameoStore"]),
        .target(
            name: "CameoSQLite",
            dependencies: [
                "CameoSystem", "CameoModel", "CameoHTTPCache", "CameoStore", "CameoQueue", "CLinux", "CSQLite",
            ]
        ),
        .target(
            name: "CameoEngine",
            dependencies: ["CameoStore", "CameoSQLite"] + (hasFleet ? engines : [])
        ),
        .target(name: "CameoHTTPTransfer", dependencies: ["CameoSystem", "CameoModel", "CCurl"]),
        .target(
            name: "CameoFetch",
            dependencies: ["CameoSystem", "CameoModel", "CameoHTTPCache", "CameoHTTPTransfer", "CLinux"]
        ),
        .target(
            name: "CameoImaging",
            dependencies: ["CameoSystem", "CameoModel", "CHEIF", "CJPEG", "CJXL", "CMemory", "CVips", "CWebP", "CZlib"]
        ),
        .target(name: "CameoRenderMessages", dependencies: ["CameoModel", "CLinux"]),
        .target(
            name: "CameoChild",
            dependencies: ["CameoSystem", "CameoModel", "CameoRenderMessages", "CLinux", "CMemory", "CSandbox"]
        ),
        .target(
            name: "CameoRenderService",
            dependencies: ["CameoSystem", "CLinux", "CameoModel", "CameoImaging", "CameoRenderMessages", "CameoChild"]
        ),
        .target(name: "CameoRenderer", dependencies: ["CameoSystem", "CameoModel", "CameoRenderMessages", "CLinux"]),
        .target(
            name: "CameoHooks",
            dependencies: ["CameoSystem", "CameoModel", "CameoStore", "CameoFetch", "CLinux", logging]
        ),
        .target(
            name: "CameoWorker",
            dependencies: [
                "CameoSystem", "CameoModel", "CameoStore", "CameoHTTPCache", "CameoFetch", "CameoHooks",
                "CameoRenderer", logging,
                lifecycle,
            ]
        ),
        .target(name: "CameoReport", dependencies: ["CameoSystem", "CameoModel", "CameoStore"]),
        .target(
            name: "Cameo",
            dependencies: ["CameoSystem", "CameoModel", "CameoStore", "CameoEngine", "CameoHTTPCache"]
        ),
        .target(
            name: "CameoWeb",
            dependencies: [
                "CameoSystem", "CameoModel", "CameoStore", "CameoHTTPCache", "CameoReport", hummingbird,
                hummingbirdCore,
                httpTypes, nio, nioHTTP1, nioPosix, logging, lifecycle,
            ],
            resources: [.embedInCode("Dashboard/Page")]
                // Links to the files of proto-json.
                + [
                    "openapi.json", "batch-end.schema.json", "batch-report.schema.json", "enqueue-receipt.schema.json",
                    "job.schema.json",
                    "job-change.schema.json", "job-failure.schema.json", "status-report.schema.json",
                    "thumbnail-facts.schema.json", "thumbnail-request.schema.json",
                ].map { .embedInCode("API/\($0)") }
        ),

        // The commands.
        .target(
            name: "CommandSupport",
            dependencies: [
                "CameoSystem", "CameoModel", "CameoStore", "CameoSQLite", "CameoEngine", "CameoReport", "CLinux",
                argumentParser,
            ]
        ),
        // For the commands that run on.
        .target(
            name: "CommandLogging",
            dependencies: ["CameoSystem", "CommandSupport", "CameoModel", argumentParser, logging]
        ),
        .executableTarget(
            name: "cameo-enqueue",
            dependencies: ["CameoSystem", "CommandSupport", "CameoModel", "CameoReport", "CameoStore", argumentParser]
        ),
        .executableTarget(
            name: "cameo-status",
            dependencies: [
                "CameoSystem", "CommandSupport", "CameoModel", "CameoStore", "CameoReport", argumentParser,
            ]
        ),
        .executableTarget(
            name: "cameo-admin",
            dependencies: [
                "CommandSupport", "CameoSystem", "CameoModel", "CameoStore", "CameoSQLite", "CameoReport",
                argumentParser,
            ]
        ),
        .executableTarget(
            name: "cameo-worker",
            dependencies: [
                "CameoSystem", "CommandSupport", "CommandLogging", "CameoModel", "CameoReport", "CameoStore",
                "CameoFetch",
                "CameoHooks",
                "CameoRenderer", "CameoWorker",
                argumentParser, logging, lifecycle, signals,
            ]
        ),
        .executableTarget(
            name: "cameo-web",
            dependencies: [
                "CameoSystem", "CommandSupport", "CommandLogging", "CameoModel", "CameoStore", "CameoWeb",
                argumentParser, logging,
                lifecycle, signals,
            ]
        ),
        .executableTarget(name: "cameo-renderer", dependencies: ["CameoRenderService"]),

        .target(
            name: "TestSupport",
            dependencies: ["CameoSystem", "CameoModel", "CLinux", "CSQLite"],
            path: "Tests/TestSupport",
            exclude: [
                "cases.py", "false_renderer.py", "faults.c", "faulty_proxy.py", "juicefs_server.py",
                "metadata_service.py", "nameserver.py", "origin.py", "pgbouncer.py", "pgpool.py", "postgres.py",
                "rude.py",
                "swift_server.py",
            ]
        ),
        .testTarget(
            name: "CameoModelTests",
            dependencies: ["CameoSystem", "CameoModel", "TestSupport"],
            exclude: ["validate.py"]
        ),
        // What every engine has to keep; each engine's own tests run it.
        .target(
            name: "StoreConformance",
            dependencies: ["CameoSystem", "CameoModel", "CameoHTTPCache", "CameoStore", "TestSupport"],
            path: "Tests/StoreConformance",
            exclude: ["Stores"]
        ),
        .testTarget(
            name: "CameoSQLiteTests",
            dependencies: [
                "CameoSystem", "CLinux", "CSQLite", "CameoModel", "CameoHTTPCache", "CameoStore", "CameoQueue",
                "CameoSQLite",
                "StoreConformance", "TestSupport",
            ]
        ),
        // With the programs that EndToEndTests runs, whose command lines it parses: named there, its many files would wait
        // for them and compile last.
        .testTarget(
            name: "CommandSupportTests",
            dependencies: [
                "CommandSupport", "CameoEngine", "CameoModel", "CameoStore", "StoreConformance", "TestSupport",
                "cameo-enqueue", "cameo-worker", "cameo-status", "cameo-admin", argumentParser,
            ]
        ),
        // What every cache of HTTP answers has to keep: the state machine, the worker's fetcher, a session that reads through.
        .target(
            name: "CacheConformance",
            dependencies: ["CameoHTTPCache", "TestSupport"],
            path: "Tests/CacheConformance"
        ),
        .testTarget(
            name: "CameoHTTPCacheTests",
            dependencies: ["CameoModel", "CameoHTTPCache", "CacheConformance", "TestSupport"]
        ),
        .testTarget(
            name: "CameoHooksTests",
            dependencies: [
                "CameoSystem", "CameoModel", "CameoStore", "CameoSQLite", "CameoFetch", "CameoHooks",
                "StoreConformance", "TestSupport", logging,
            ]
        ),
        .testTarget(
            name: "CameoFetchTests",
            dependencies: ["CameoSystem", "CameoModel", "CameoFetch", "TestSupport"]
        ),
        .testTarget(
            name: "CameoWorkerTests",
            dependencies: [
                "CameoSystem", "CameoModel", "CameoStore", "CameoSQLite", "CameoHTTPCache", "CameoFetch",
                "CameoRenderer",
                "CameoWorker", "CacheConformance", "StoreConformance", "TestSupport", "cameo-renderer", logging,
            ]
        ),
        .testTarget(
            name: "CameoReportTests",
            dependencies: [
                "CameoModel", "CameoStore", "CameoSQLite", "CameoReport", "StoreConformance", "TestSupport",
            ]
        ),
        .testTarget(
            name: "CameoImagingTests",
            dependencies: ["CJPEG", "CVips", "CWebP", "CameoModel", "CameoImaging", "TestSupport"]
        ),
        .testTarget(
            name: "CameoRendererTests",
            dependencies: [
                "CameoSystem", "CameoModel", "CameoRenderMessages", "CameoRenderer", "TestSupport", "cameo-renderer",
                "cameo-renderer-hooked",
            ]
        ),
        // A renderer that tests make crash, hang, or try its walls from the inside.
        .target(name: "CAttempt", path: "Tests/CAttempt"),
        .target(
            name: "Misbehaviour",
            dependencies: ["CameoSystem", "CameoModel", "CameoRenderMessages", "CAttempt"],
            path: "Tests/Misbehaviour"
        ),
        .executableTarget(
            name: "cameo-renderer-hooked",
            dependencies: ["CameoRenderService", "Misbehaviour"],
            path: "Tests/HookedRenderer"
        ),
        // For deploy/bench.
        .executableTarget(
            name: "cameo-queue-bench",
            dependencies: ["CameoModel", "CameoStore", "CameoEngine"],
            path: "Tests/QueueBench"
        ),
        .executableTarget(
            name: "cameo-library-bench",
            dependencies: ["Cameo", "CameoModel", "CameoStore", "CameoSQLite"],
            path: "Tests/LibraryBench"
        ),
        // For callgrind.
        .executableTarget(
            name: "cameo-render-bench",
            dependencies: ["CMemory", "CameoSystem", "CameoModel", "CameoImaging", "CameoRenderMessages"],
            path: "Tests/RenderBench"
        ),
        // The program of the README.
        .executableTarget(name: "cameo-example", dependencies: ["Cameo"], path: "Tests/CameoExample"),
        // Other modules of a program, which use names of the library.
        .target(name: "NamesakeClient", path: "Tests/NamesakeClient"),
        .target(name: "NamesakeJob", path: "Tests/NamesakeJob"),
        .testTarget(
            name: "CameoTests",
            dependencies: [
                "Cameo", "CameoModel", "CameoHTTPCache", "CameoStore", "CameoSQLite", "CacheConformance",
                "StoreConformance", "TestSupport", "NamesakeClient", "NamesakeJob", "cameo-example",
            ]
        ),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "CameoSystem", "Cameo", "CameoModel", "CameoHTTPCache", "CameoStore", "CameoSQLite", "CameoReport",
                "CommandSupport",
                "TestSupport",
            ],
            exclude: ["Harness/alerts.yml", "Harness/own_tables.py", "seccomp_run.py", "terminal.py"]
        ),
    ]
)

// Frames of videos are made by a program of its own, which is in the package only if it is asked for: nothing else needs
// the libraries of FFmpeg or their headers.
if Context.environment["CAMEO_VIDEO"] == "1" {
    package.products.append(.executable(name: "cameo-frames", targets: ["cameo-frames"]))
    package.targets += [
        .target(
            name: "CVideo",
            linkerSettings: ["avformat", "avcodec", "swscale", "avutil"].map { .linkedLibrary($0) }
        ),
        .target(
            name: "CameoVideo",
            dependencies: ["CameoSystem", "CameoModel", "CameoRenderMessages", "CameoChild", "CVideo"]
        ),
        .executableTarget(name: "cameo-frames", dependencies: ["CameoVideo"]),
        .executableTarget(
            name: "cameo-frames-hooked",
            dependencies: ["CameoVideo", "Misbehaviour"],
            path: "Tests/HookedFrames"
        ),
    ]
    for tests in package.targets where tests.name == "CameoRendererTests" {
        tests.dependencies += ["cameo-frames", "cameo-frames-hooked"]
    }
}

if hasFleet {
    package.targets += [
        .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .target(
            name: "CameoPostgreSQL",
            dependencies: [
                "CameoSystem", "CameoModel", "CameoHTTPCache", "CameoStore", "CameoQueue", "CLinux", "CPostgreSQL",
            ]
        ),
        .target(
            name: "CameoObjectStorage",
            dependencies: ["CameoSystem", "CameoModel", "CameoHTTPCache", "CameoHTTPTransfer", "CameoStore"]
        ),
    ]
}

if isForFleets {
    package.targets += [
        .testTarget(
            name: "CameoPostgreSQLTests",
            dependencies: [
                "CameoSystem", "CLinux", "CameoModel", "CameoHTTPCache", "CameoStore", "CameoQueue", "CameoPostgreSQL",
                "CameoObjectStorage", "StoreConformance", "TestSupport",
            ]
        ),
        .testTarget(
            name: "CameoExportTests",
            dependencies: [
                "CameoModel", "CameoStore", "CameoQueue", "CameoSQLite", "CameoPostgreSQL",
                "CameoObjectStorage", "StoreConformance", "TestSupport",
            ]
        ),
        .testTarget(
            name: "CameoObjectStorageTests",
            dependencies: ["CameoSystem", "CameoModel", "CameoStore", "CameoObjectStorage", "TestSupport"]
        ),
    ]
    // So that a change of the store does not break them unseen.
    for tests in package.targets where tests.name == "EndToEndTests" {
        tests.dependencies += ["cameo-queue-bench", "cameo-library-bench", "cameo-render-bench"]
    }
}

// Building Hummingbird takes as long as all the rest, so whoever tests only the default build does without.
if Context.environment["CAMEO_WEB"] == "1" {
    package.targets += [
        // The server of the article about HTTP.
        .executableTarget(
            name: "cameo-server-example",
            dependencies: ["Cameo", hummingbird, httpTypes, lifecycle],
            path: "Tests/CameoServerExample"
        ),
        .testTarget(
            name: "CameoWebTests",
            dependencies: [
                "CameoSystem", "CameoModel", "CameoHTTPCache", "CameoReport", "CameoStore", "CameoSQLite", "CameoWeb",
                "StoreConformance", "TestSupport",
                "cameo-server-example", "cameo-web",
                logging,
            ],
            exclude: ["generated_client.py", "origins.py", "recipes.py", "validate_answers.py"]
        ),
    ]
    for tests in package.targets where tests.name == "CommandSupportTests" { tests.dependencies.append("cameo-web") }
}

// deploy/test makes a release build with other flags: in half the time of a debug build, and without the checks that
// ArgumentParser makes of each command's options at each start of a debug build. What tests may ask of a debug build
// (KillPoint) is in it, and what only tests need is not optimised.
let isForTests = Context.environment["CAMEO_TESTS"] == "1"

// One strictness for every target of ours. Warnings are errors in debug builds and for tests, whoever builds. A release
// build has to succeed with compilers of later versions, which warn of more; so has any with CAMEO_STRICT=0.
let warningsAreErrors = Context.environment["CAMEO_STRICT"] != "0"
for target in package.targets where target.type != .system {
    var settings = target.swiftSettings ?? []
    settings += [
        .swiftLanguageMode(.v6),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
        .enableUpcomingFeature("ExistentialAny"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
        .enableUpcomingFeature("InternalImportsByDefault"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
        .enableUpcomingFeature("MemberImportVisibility"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0461-async-function-isolation.md
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
    if warningsAreErrors {
        settings.append(.treatAllWarnings(as: .error, isForTests ? nil : .when(configuration: .debug)))
    }
    if isForTests {
        settings.append(.define("DEBUG"))
        if target.type == .test || target.path != nil { settings.append(.unsafeFlags(["-Onone"])) }
    }
    target.swiftSettings = settings
}
