import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Host names, with a resolver that asks a hostile name server. Every address that it returns exists and serves a
    /// picture, so only the worker's guard can refuse it.
    @Suite(
        .timeLimit(.minutes(10)),
        .enabled(if: PrivateNetwork.isAvailable, "needs unshare(1) with networks, and ip(8)")
    )
    struct NameTests {
        private static let site = "93.184.216.34"
        private static let site6 = "2606:2800:220:1::34"
        private static let inside = "10.0.0.5"

        private func run(
            _ urls: [String],
            _ names: [String: [[String]]],
            _ script: String = "worker"
        ) async throws -> (jobs: [Job], report: PrivateNetwork.Report) {
            let deployment = try Deployment()
            let receipts = try await deployment.enqueue(Array(urls) + ["--max-attempts", "2", "--size", "32x32"])
            let report = try await PrivateNetwork(names: names).run(script, deployment)
            var jobs: [Job] = []
            for receipt in receipts { jobs.append(try await deployment.job(receipt.jobID)) }
            return (jobs, report)
        }

        private static let privateAddresses = [
            "10.0.0.5", "10.255.255.254", "127.0.0.1", "127.1.2.3", "0.0.0.0", "100.64.0.1", "169.254.169.254",
            "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.51.100.7",
            "203.0.113.9", "::1", "::", "fd00::5", "fc00::1", "fec0::5", "2001:db8::5", "100::5",
            "::ffff:10.0.0.5", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::10.0.0.5", "64:ff9b::a00:5",
            "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:5", "2002:a00:5::1", "2002:a9fe:a9fe::1", "2001:0:a00:5::1",
            "2606:4700::5efe:a00:5", "2606:4700::200:5efe:a00:5", "::ffff:0:a00:5",
        ]

        /// One worker for all of them, because a start takes longer than the work here.
        @Test func aNameOfAPrivateAddressIsNeverConnectedTo() async throws {
            let rows = Self.privateAddresses.enumerated().map { index, address in ("n\(index).test", address) }
            let (jobs, report) = try await run(
                rows.map { "http://\($0.0)/picture.jpg" } + ["http://site.test/picture.jpg"],
                Dictionary(uniqueKeysWithValues: rows.map { ($0.0, [[$0.1]]) }).merging(["site.test": [[Self.site]]]) {
                    $1
                }
            )
            for (row, job) in zip(rows, jobs) {
                #expect(job.failure?.code == .sourceForbidden, "\(row.1): \(job.failure?.message ?? "fetched")")
                #expect(job.attempt == 1, "\(row.1)")
                #expect(
                    job.failure?.message.contains("\(row.0) has the address") == true,
                    "\(job.failure?.message ?? "")"
                )
                #expect((report.questions[row.0] ?? 0) >= 1)
            }
            #expect(jobs.last?.state == .completed)
            #expect(report.connections == [Self.site: 1])
        }

        /// The control: these servers are reachable, so only the guard refused them.
        @Test func anAllowedHostIsReachedThere() async throws {
            let (jobs, report) = try await run(
                ["http://inside.test/picture.jpg", "http://other.test/picture.jpg"],
                ["inside.test": [[Self.inside]], "other.test": [["10.0.0.6"]]],
                "worker --allow-host inside.test"
            )
            #expect(jobs.map(\.state) == [.completed, .discarded])
            #expect(report.connections == [Self.inside: 1])
        }

        @Test(
            arguments: TestLength.few(
                [
                    ([inside, site], site), ([site, inside], site), (["fd00::5", site], site),
                    ([inside, site6], site6),
                    (["::ffff:10.0.0.5", "127.0.0.1", site], site), ([inside, "fd00::5", site6, site], site6),
                ],
                2
            )
        )
        func ofPublicAndPrivateAddressesOnlyThePublicAreUsed(addresses: [String], used: String) async throws {
            let (jobs, report) = try await run(["http://mixed.test/picture.jpg"], ["mixed.test": [addresses]])
            #expect(jobs.map(\.state) == [.completed], "\(jobs[0].failure?.message ?? "")")
            #expect(report.connections == [used: 1])
        }

        /// A public address at the first look-up, a private one at the next, with a time to live of 0.
        private static let rebound = ["rebound.test": [[site], [inside]], "site.test": [[site]]]

        @Test func aNameThatMovesBetweenTwoHopsIsNotFollowed() async throws {
            // libcurl looks a name up again for another port, and caches it for the same one.
            let (jobs, report) = try await run(
                ["http://rebound.test/to?http://rebound.test:8080/picture.jpg"],
                Self.rebound
            )
            #expect(jobs[0].failure?.code == .sourceForbidden, "\(jobs[0].failure?.message ?? "fetched")")
            #expect(jobs[0].failure?.message.contains("rebound.test has the address") == true)
            #expect(report.connections == [Self.site: 1])
            #expect(report.questions["rebound.test"] == 2)
        }

        @Test func aNameThatMovesBetweenTwoWorkersIsNotFollowed() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("http://rebound.test/picture.jpg --size 32x32")
            let enqueue = "'\(try Deployment.executable("cameo-enqueue"))' --size 32x32"
            let report = try await PrivateNetwork(names: Self.rebound)
                .run("worker; \(enqueue) http://rebound.test/picture.jpg?2; worker", deployment)
            #expect(try await deployment.job(1).state == .completed)
            let failure = try #require(try await deployment.job(2).failure)
            #expect(failure.code == .sourceForbidden, "\(failure.message)")
            #expect(report.connections == [Self.site: 1])
            #expect(report.questions["rebound.test"] == 2)
        }

        @Test(
            arguments: TestLength.few(
                [
                    "http://rebound.test/to?http://rebound.test/to?http://rebound.test/to", "http://rebound.test/busy",
                    "http://site.test/to?http://rebound.test/to?http://rebound.test:8080/picture.jpg",
                ],
                1
            )
        )
        func noRetryAndNoLoopMeetsThePrivateAddress(url: String) async throws {
            let (_, report) = try await run([url], Self.rebound)
            #expect(report.connections[Self.inside] == nil)
            #expect((report.connections[Self.site] ?? 0) >= 1)
        }

        @Test(
            arguments: TestLength.few(
                [
                    "http://alias.test/picture.jpg", "http://far.test/picture.jpg", "http://ALIAS.test./picture.jpg",
                    "http://site.test/to?http://alias.test/picture.jpg",
                    "http://site.test/to?//inside.test/picture.jpg",
                    "http://inside.test./picture.jpg", "http://localhost/picture.jpg", "http://localhost./picture.jpg",
                    "http://site.test/to?http://localhost./picture.jpg", "http://site.test@inside.test/picture.jpg",
                    "http://site.test%2Finside.test/picture.jpg", "http://site.test\\@inside.test/picture.jpg",
                ],
                3
            )
        )
        func noOtherWayToAPrivateNameIsTaken(url: String) async throws {
            let (jobs, report) = try await run(
                [url],
                [
                    "alias.test": [["inside.test"]], "far.test": [["alias.test"]], "inside.test": [[Self.inside]],
                    "site.test": [[Self.site]],
                ]
            )
            // A backslash ends the host.
            if url.contains("\\") {
                #expect(jobs[0].state == .completed)
            } else {
                let failure = try #require(jobs[0].failure)
                let codes = [JobFailure.Code.sourceForbidden, .sourceInvalid, .sourceUnreachable]
                #expect(codes.contains(failure.code), "\(failure.message)")
            }
            #expect(report.connections.keys.allSatisfy { $0 == Self.site })
        }

        @Test(
            arguments: TestLength.few(
                [
                    "http://site.test./picture.jpg", "http://alias.test/picture.jpg", "http://SITE.Test/picture.jpg",
                    "http://xn--bcher-kva.test/picture.jpg", "http://bücher.test/picture.jpg",
                    "http://BÜCHER.test/picture.jpg",
                    "http://b%C3%BCcher.test/picture.jpg", "http://site6.test/picture.jpg",
                    "http://bücher.test/to?http://例え.test/picture.jpg",
                ],
                2
            )
        )
        func namesOfPublicAddressesAreFetchedFrom(url: String) async throws {
            let (jobs, report) = try await run(
                [url],
                [
                    "site.test": [[Self.site]], "alias.test": [["site.test"]], "site6.test": [[Self.site6]],
                    "xn--bcher-kva.test": [[Self.site]], "xn--r8jz45g.test": [[Self.site]],
                ]
            )
            #expect(jobs[0].state == .completed, "\(jobs[0].failure?.message ?? "")")
            #expect(report.connections.keys.allSatisfy { $0 == Self.site || $0 == Self.site6 })
        }

        @Test func anInternationalNameOfAPrivateAddressIsRefusedByItsName() async throws {
            let (jobs, report) = try await run(
                ["http://bücher.test/picture.jpg", "http://xn--bcher-kva.test/picture.jpg"],
                ["xn--bcher-kva.test": [[Self.inside]]]
            )
            try #require(jobs.map(\.failure?.code) == [.sourceForbidden, .sourceForbidden])
            #expect(jobs[0].failure?.message.contains("bücher.test") == true, "\(jobs[0].failure?.message ?? "")")
            #expect(report.connections.isEmpty)
        }
    }
}
