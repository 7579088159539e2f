import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension ConformanceCase {
    /// Queues that are fair between tenants.
    static let fairness: [ConformanceCase] = [
        ConformanceCase("a fair queue does not let a backlog stand in front") { fixture in
            try await fixture.makeFair()
            try await fixture.enqueue(200, of: "a")
            for _ in 0..<20 { try await fixture.spend(10) }
            try await fixture.enqueue(1, of: "b")
            let next = try await fixture.claim(2)
            #expect(try Set(next.map { try $0.tenant }) == ["a", "b"])
        },
        ConformanceCase("tenants of a fair queue get the same, whatever waits behind") { fixture in
            try await fixture.makeFair()
            for tenant in 0..<10 { try await fixture.enqueue(40 + 40 * tenant, of: "t\(tenant)") }
            var spent: [String: Int] = [:]
            for _ in 0..<300 { try await fixture.spend(20, into: &spent) }
            #expect(spent.count == 10)
            for (tenant, time) in spent { #expect((570...630).contains(time), "\(tenant)") }
            #expect(try await fixture.store.tenants(.all).tenants.allSatisfy { abs(($0.share ?? 0) - 0.1) < 0.01 })
        },
        ConformanceCase("the weight of a tenant counts, also in one claim of many jobs") { fixture in
            try await fixture.makeFair()
            try await fixture.store.setWeight(3, ofTenant: "c")
            for tenant in ["a", "b", "c"] { try await fixture.enqueue(200, of: tenant) }
            var claimed: [String: Int] = [:]
            for _ in 0..<10 {
                for job in try await fixture.claim(25) {
                    claimed[try job.tenant, default: 0] += 1
                    try await fixture.end(job, 7)
                }
            }
            #expect((145...155).contains(claimed["c"] ?? 0), "\(claimed)")
            #expect((45...55).contains(claimed["a"] ?? 0), "\(claimed)")
        },
        ConformanceCase("one claim of many jobs takes one of each of many tenants") { fixture in
            try await fixture.makeFair()
            for tenant in 0..<50 { try await fixture.enqueue(3, of: "t\(tenant)") }
            let first = try await fixture.claim(25) + fixture.claim(25)
            #expect(try Set(first.map { try $0.tenant }).count == 50)
            for job in first { try await fixture.end(job, 47) }
            let second = try await fixture.claim(50)
            #expect(try Set(second.map { try $0.tenant }).count == 50)
            #expect(try await fixture.claim(99).count == 50)
            #expect(try await fixture.faults().isEmpty)
        },
        ConformanceCase("what counts is what jobs cost, not how many there are") { fixture in
            try await fixture.makeFair()
            for tenant in ["small", "large"] { try await fixture.enqueue(1_500, of: tenant) }
            var spent: [String: Int] = [:]
            for _ in 0..<700 {
                guard let job = try await fixture.claim().first else { break }
                let cost = try job.tenant == "small" ? 1 : 50
                // With what the worker itself spends on each.
                spent[try job.tenant, default: 0] += cost + Int(fixture.costOfJob)
                try await fixture.end(job, cost)
            }
            let ratio = Double(spent["small"] ?? 0) / Double(spent["large"] ?? 1)
            #expect((0.9...1.1).contains(ratio), "\(spent)")
        },
        ConformanceCase("nobody saves up while others work, and others use what is idle") { fixture in
            try await fixture.makeFair()
            try await fixture.enqueue(1, of: "b")
            try await fixture.spend(10)
            try await fixture.enqueue(200, of: "a")
            for _ in 0..<100 { #expect(try await fixture.spend(10) == "a") }
            try await fixture.enqueue(50, of: "b")
            var next: [String: Int] = [:]
            for _ in 0..<20 { try await fixture.spend(10, into: &next) }
            #expect(next.values.allSatisfy { (90...110).contains($0) } && next.count == 2, "\(next)")
        },
        ConformanceCase("one large job at a time does not escape its charge, for ten minutes") { fixture in
            try await fixture.makeFair()
            for tenant in ["b", "large"] { try await fixture.enqueue(1, of: tenant) }
            for _ in 0..<2 {
                let job = try #require(try await fixture.claim().first)
                try await fixture.end(job, try job.tenant == "large" ? 10_000 : 100)
            }
            try await fixture.enqueue(150, of: "b")
            try await fixture.enqueue(1, of: "large")
            for _ in 0..<50 { #expect(try await fixture.spend(100) == "b") }
            // Once it has nothing waiting, that is forgotten in time.
            try await fixture.store.cancelAll()
            #expect(try await fixture.claim().isEmpty)
            fixture.clock.advance(seconds: 601)
            try await fixture.store.extendLease(of: "w1")
            try await fixture.enqueue(20, of: "b")
            _ = try await fixture.spend(100)
            try await fixture.enqueue(1, of: "large")
            let next = try await fixture.claim(3)
            #expect(try next.map { try $0.tenant }.contains("large"))
        },
        ConformanceCase("an attempt of which nothing is known costs what recent ones did") { fixture in
            try await fixture.makeFair()
            for tenant in ["a", "b"] { try await fixture.enqueue(300, of: tenant) }
            var claimed: [String: Int] = [:]
            for _ in 0..<60 {
                let job = try #require(try await fixture.claim().first)
                claimed[try job.tenant, default: 0] += 1
                if try job.tenant == "a" {
                    try await fixture.end(job, 30)
                } else if claimed["b", default: 0] < 20 {
                    try await fixture.end(job, 30)
                } else {
                    _ = try await fixture.store.cancel(job.claim.jobID)
                }
            }
            #expect((27...33).contains(claimed["a"] ?? 0), "\(claimed)")
        },
        ConformanceCase("all processes share what tenants have had") { fixture in
            try await fixture.makeFair()
            for tenant in ["a", "b"] { try await fixture.enqueue(100, of: tenant) }
            let stores = try await fixture.others(2)
            for (number, store) in stores.enumerated() { try await fixture.register("v\(number)", in: store) }
            var claimed: [String: Int] = [:]
            for turn in 0..<60 {
                let job = try #require(try await stores[turn % 2].claim(limit: 1, for: "v\(turn % 2)").first)
                claimed[try job.tenant, default: 0] += 1
                try await fixture.end(job, 10, in: stores[(turn + 1) % 2])
            }
            #expect(claimed == ["a": 30, "b": 30])
        },
        ConformanceCase("a tenant with several keys has one account, and each key its limit") { fixture in
            try await fixture.makeFair()
            for host in ["x", "y", "z"] {
                try await fixture.enqueue(60) { ($0.tenant, $0.concurrencyKey) = ("many", host) }
            }
            try await fixture.enqueue(100, of: "one")
            let first = try await fixture.claim(9)
            #expect(try first.count { try $0.tenant == "many" } == 3)
            for job in first { try await fixture.end(job, 10) }
            var claimed = ["many": 3, "one": 6]
            for _ in 0..<61 {
                let job = try #require(try await fixture.claim().first)
                claimed[try job.tenant, default: 0] += 1
                try await fixture.end(job, 10)
            }
            #expect((33...37).contains(claimed["many"] ?? 0), "\(claimed)")
        },
        ConformanceCase("a queue becomes fair, and ordered by age again, with jobs waiting") { fixture in
            try await fixture.register()
            try await fixture.enqueue(20, of: "a")
            try await fixture.enqueue(20)
            try await fixture.enqueue(20, of: "c")
            let first = try await fixture.claim(6)
            #expect(try first.allSatisfy { try $0.tenant == "a" }, "by age")
            try await fixture.store.setFair(true, queue: "default", unknown: .refused)
            #expect(try await fixture.store.queue("default").fair == true)
            #expect(try await fixture.claim(6).map { try $0.tenant }.sorted() == ["", "", "a", "a", "c", "c"])
            for job in first { try await fixture.end(job, 5) }
            try await fixture.store.setFair(false, queue: "default", unknown: .refused)
            #expect(try await fixture.claim(6).allSatisfy { try $0.tenant == "a" })
            #expect(try await fixture.store.queue("default").fair == nil)
            #expect(try await fixture.faults().isEmpty)
        },
        ConformanceCase("a fair queue waits for its turn among others by its oldest job") { fixture in
            try await fixture.makeFair()
            try await fixture.enqueue(2, of: "a")
            fixture.clock.advance(seconds: 1)
            try await fixture.enqueue(1) { $0.queue = "other" }
            fixture.clock.advance(seconds: 1)
            try await fixture.enqueue(2, of: "b")
            let claimed = try await fixture.claim(5).map { "\($0.queue) \(try $0.tenant)" }
            let others = try #require(claimed.firstIndex(of: "other "))
            #expect(claimed.count == 5 && claimed[..<others].count { $0 == "default a" } == 2, "\(claimed)")
        },
        ConformanceCase("within a tenant, priority and age decide") { fixture in
            try await fixture.makeFair()
            try await fixture.enqueue(3, of: "a")
            try await fixture.enqueue(1) { ($0.tenant, $0.priority) = ("a", 5) }
            #expect(try await fixture.claim(4).map(\.claim.jobID) == [4, 1, 2, 3])
        },
        ConformanceCase("tenants are listed with what waits, what runs and their part") { fixture in
            try await fixture.makeFair()
            try await fixture.store.setWeight(2, ofTenant: "b")
            try await fixture.enqueue(5, of: "a")
            fixture.clock.advance(seconds: 5)
            try await fixture.enqueue(3) { $0.concurrencyKey = "b" }
            let job = try #require(try await fixture.claim().first)
            try await fixture.end(job, 97)
            _ = try await fixture.claim()
            let tenants = try await fixture.store.tenants(.sharing).tenants
            let texts = tenants.map { "\($0.queue)/\($0.tenant) \($0.waiting) \($0.running) \($0.weight)" }
            #expect(texts.sorted() == ["default/a 4 0 1.0", "default/b 2 1 2.0"])
            #expect(tenants.first?.tenant == "a" && tenants.first?.oldestWaitingSeconds == 5)
            #expect(tenants.first?.share == 1 && tenants.first?.cpuSeconds == 0.1)
            let most = TenantChoice(order: .mostSpent, limit: 1, ofFairQueues: true)
            #expect(try await fixture.store.tenants(most).tenants.map(\.tenant) == ["a"])
            #expect(try await fixture.store.tenants(most).cpuSeconds == ["default": 0.1])
            var filter = JobFilter()
            filter.tenant = "b"
            #expect(try await fixture.store.jobs(filter).map(\.id) == [8, 7, 6])
        },
        ConformanceCase("a job is found behind many tenants whose jobs were cancelled") { fixture in
            try await fixture.makeFair()
            for tenant in 0..<150 { try await fixture.enqueue(1, of: "t\(tenant)") }
            try await fixture.store.cancelAll()
            try await fixture.enqueue(1, of: "last")
            #expect(try await fixture.claim(4).count == 1)
        },
        ConformanceCase("a backlog that was cancelled does not let a fair queue go first") { fixture in
            try await fixture.makeFair()
            try await fixture.enqueue(1, of: "a")
            try await fixture.spend(1_000)
            try await fixture.enqueue(20, of: "a")
            fixture.clock.advance(seconds: 60)
            try await fixture.store.extendLease(of: "w1")
            try await fixture.enqueue(1) { $0.queue = "other" }
            try await fixture.store.cancelAll()
            try await fixture.enqueue(2) { $0.queue = "other" }
            fixture.clock.advance(seconds: 1)
            try await fixture.enqueue(2, of: "b")
            #expect(try await fixture.claim(2).map(\.queue) == ["other", "other"])
        },
        ConformanceCase("a tenant does not escape by another key") { fixture in
            try await fixture.makeFair()
            try await fixture.enqueue(1) { ($0.tenant, $0.concurrencyKey) = ("many", "x") }
            try await fixture.enqueue(1, of: "one")
            for _ in 0..<2 {
                let job = try #require(try await fixture.claim().first)
                try await fixture.end(job, try job.tenant == "many" ? 5_000 : 10)
            }
            try await fixture.enqueue(30, of: "one")
            try await fixture.enqueue(1) { ($0.tenant, $0.concurrencyKey) = ("many", "y") }
            for _ in 0..<30 { #expect(try await fixture.spend(10) == "one") }
        },
        ConformanceCase("numbers that another program has written stop nobody") { fixture in
            try await fixture.makeFair()
            for tenant in ["a", "b"] { try await fixture.enqueue(5, of: tenant) }
            try await fixture.sql("UPDATE lane SET used = NULL")
            _ = try await fixture.store.repair(in: try await fixture.store.freeTurn(), removingUpTo: nil) { _ in }
            #expect(try await fixture.claim(9).count == 9)
        },
        ConformanceCase("a tenant without jobs and with the usual weight is removed") { fixture in
            try await fixture.makeFair()
            try await fixture.enqueue(2, of: "a")
            try await fixture.store.setWeight(2, ofTenant: "b")
            try await fixture.store.setWeight(1, ofTenant: "c")
            _ = try await fixture.prune(.forever)
            #expect(try await fixture.sql("SELECT name FROM tenant ORDER BY name") == "a\nb")
            try await fixture.enqueue(1, of: "c")
            #expect(try await fixture.claim(9).count == 3)
            #expect(try await fixture.faults().isEmpty)
        },
    ]
}

extension Fixture {
    /// What a worker itself spends on a job, in milliseconds of a processor.
    fileprivate var costOfJob: Double { 3 }

    fileprivate func makeFair() async throws {
        try await register()
        try await store.setFair(true, queue: "default", unknown: .created)
    }

    fileprivate func enqueue(_ count: Int, of tenant: String) async throws {
        try await enqueue(count) { $0.tenant = tenant }
    }

    /// Ends an attempt that took a time of a processor, in milliseconds.
    fileprivate func end(_ job: ClaimedJob, _ time: Int, in store: (any Store)? = nil) async throws {
        var timings = AttemptTimings()
        timings.cpuMilliseconds = time
        _ = try await (store ?? self.store).settle(job.claim, as: .complete(.kept([], nil)), timings: timings)
    }

    /// Runs the next job, which takes a time, and returns its tenant.
    @discardableResult
    fileprivate func spend(_ time: Int) async throws -> String {
        let job = try #require(try await claim().first)
        try await end(job, time)
        return try job.tenant
    }

    fileprivate func spend(_ time: Int, into spent: inout [String: Int]) async throws {
        spent[try await spend(time), default: 0] += time
    }
}

extension ClaimedJob {
    /// The tenant of its request; empty for none.
    fileprivate var tenant: String {
        get throws {
            let request = try parsedRequest()
            return request.tenant ?? request.concurrencyKey ?? ""
        }
    }
}
