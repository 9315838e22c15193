import Testing

@Test func theRoomIsLaidNext() { #expect(Bool(true)) }
