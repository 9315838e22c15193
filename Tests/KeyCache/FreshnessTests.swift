import JOSE
import Testing

@testable import KeyCache

@Suite struct FreshnessTests {
    @Test(
        arguments: [
            (nil, nil, 3600), ("", nil, 3600), ("public", nil, 3600),
            ("max-age=600", nil, 600), ("public, max-age=600", nil, 600), ("MAX-AGE=600", nil, 600),
            ("public,max-age=\"600\", must-revalidate", nil, 600),
            // RFC 9111 §4.2.3: what it spent in caches on the way counts.
            ("max-age=600", "100", 500), ("max-age=600", "599", 60), ("max-age=600", "9999999999999999999999", 60),
            (nil, "100", 3500), ("max-age=600", "soon", 600),
            // Our bounds.
            ("max-age=0", nil, 60), ("max-age=59", nil, 60), ("max-age=60", nil, 60), ("max-age=61", nil, 61),
            ("max-age=86400", nil, 86_400), ("max-age=86401", nil, 86_400), ("max-age=31536000", nil, 86_400),
            ("max-age=99999999999999999999999", nil, 86_400),
            ("no-store", nil, 60), ("no-cache", nil, 60), ("max-age=600, no-store", nil, 60),
            // Not understood: as short as may be.
            ("max-age", nil, 60), ("max-age=", nil, 60), ("max-age=-1", nil, 60), ("max-age=1.5", nil, 60),
            ("max-age=x", nil, 60), ("s-maxage=5", nil, 3600),
        ] as [(String?, String?, Int64)])
    func whatTheServerGrantsWithinOurBounds(cacheControl: String?, age: String?, seconds: Int64) {
        let response = KeyResponse(status: 200, cacheControl: cacheControl, age: age)
        #expect(Freshness(of: response).seconds == seconds)
    }

    @Test(arguments: [
        "\"\"", "\"abc\"", "W/\"abc\"", "\"a b\"", "abc", "abc\"", "\"abc", "", "\"", "W/", "\"a\"b\"", "w/\"a\"",
        "\"é\"",
    ])
    func anEntityTagIsKeptOnlyIfItIsOne(text: String) {
        let valid = ["\"\"", "\"abc\"", "W/\"abc\""]
        #expect(EntityTag(text)?.text == (valid.contains(text) ? text : nil))
    }

    @Test func aLongEntityTagIsNotKept() {
        #expect(EntityTag("\"" + String(repeating: "a", count: 254) + "\"") != nil)
        #expect(EntityTag("\"" + String(repeating: "a", count: 255) + "\"") == nil)
    }
}
