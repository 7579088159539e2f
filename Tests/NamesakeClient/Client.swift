/// What another module of a program may call a client.
package struct Client: Sendable {
    package init() {}
}
