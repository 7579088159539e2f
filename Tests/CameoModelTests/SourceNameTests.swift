import CameoModel
import Foundation
import Testing

/// How sources are shown.
struct SourceNameTests {
    @Test(arguments: [
        ("https://example.com/a@2x.png?mail=a@b.example#@", "https://example.com/a@2x.png?mail=a@b.example#@"),
        ("https://user:hunter2@example.com:8080/a@2x.png", "https://…@example.com:8080/a@2x.png"),
        ("HTTPS://token@example.com", "HTTPS://…@example.com"), ("http://u:hun@ter2@host/", "http://…@host/"),
        ("http://u:hunter2@[::1]:80/", "http://…@[::1]:80/"), ("http://[::1]:80/a@b", "http://[::1]:80/a@b"),
        ("http://[::1]/a@b", "http://[::1]/a@b"), ("http://host:80/@", "http://host:80/@"),
        ("ftp://u:hunter2@host/a", "ftp://…@host/a"),
        ("http://u:hunter2\\@host/", "http://host/"),
        // What is malformed may show less.
        ("http://user:hun/ter2@host/a", "http://host/a"), ("http://user:hunter2?@host/", "http://host/"),
        ("cameo://source/https%3A%2F%2Fu%3Ahunter2%40h%2Fa", "cameo://source/https%3A%2F%2F%E2%80%A6%40h%2Fa"),
        ("cameo://source/https://h/a@2x", "cameo://source/https://h/a@2x"),
        ("data:text/plain,//u:p@h", "data:text/plain,//u:p@h"), ("/srv/a:b@2x.png", "/srv/a:b@2x.png"),
        ("file:///srv/a@2x.png", "file:///srv/a@2x.png"), ("initials:A@B", "initials:A@B"), ("", ""),
    ])
    func urlsShowNoPassword(source: String, shown: String) {
        #expect(SourceName.withoutPassword(source) == shown)
    }
}
