/// What another module of a program may call a job.
package struct Job: Sendable {
    package init() {}
}
