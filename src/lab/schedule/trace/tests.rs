//! Unit tests of `schedule::trace`.

use super::*;

fn read(text: &str) -> Result<Trace, String> {
    Trace::read(text.as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn what_is_written_is_read_again() {
    let text = "board,thread,kind,unix_time\r\n\"a,\"\"b\"\"\",x,reply,20\n\nc,1,new,7\n\"a,\"\"b\"\"\",2,new,5\n";
    let trace = read(text).unwrap();
    assert_eq!(trace.boards.len(), 2);
    assert_eq!(&*trace.boards[0].name, "a,\"b\"");
    assert_eq!(trace.boards[0].posts.iter().map(|post| post.at).collect::<Vec<_>>(), [5, 20]);
    assert_eq!(trace.first(), Some(5));
    let mut written = Vec::new();
    trace.write(&mut written).unwrap();
    assert_eq!(Trace::read(written.as_slice()).unwrap(), trace);
}

#[test]
fn broken_lines_are_told_with_their_numbers_all_at_once() {
    let told = read("a,1,new,5\na,1,new\na,1,gone,5\na,1,new,-5\n,1,new,5\na,1,new,1e3\n\"a,1,new,5\n\"a\"b,1,new,5\n")
        .unwrap_err();
    for (line, what) in [
        (2, "3 fields"),
        (3, "\"gone\""),
        (4, "\"-5\""),
        (5, "empty"),
        (6, "\"1e3\""),
        (7, "not closed"),
        (8, "after a closing quote"),
    ] {
        assert!(told.lines().any(|told| told.starts_with(&format!("line {line}: ")) && told.contains(what)), "{told}");
    }
    assert!(!told.contains("line 1:"));
}

#[test]
fn many_broken_lines_are_counted_and_long_ones_are_cut() {
    let told = read(&"x\n".repeat(limits::TRACE_FAULTS_TOLD_MAX + 7)).unwrap_err();
    assert!(told.contains("and 7 more"), "{told}");
    let long = format!("{},1,new,5\nb,1,new,6\n", "a".repeat(limits::TRACE_LINE_BYTES_MAX));
    let told = read(&long).unwrap_err();
    assert!(told.starts_with("line 1: longer than") && !told.contains("line 2"), "{told}");
    assert!(Trace::read(&b"\xff,1,new,5\n"[..]).unwrap_err().to_string().starts_with("line 1: is not UTF-8"));
}

#[test]
fn an_empty_trace_has_no_boards() {
    assert_eq!(read("").unwrap(), Trace::default());
    assert_eq!(read("board,thread,kind,unix_time\n").unwrap().first(), None);
}
