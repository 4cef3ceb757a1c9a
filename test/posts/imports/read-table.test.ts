import { describe, expect, it } from "vitest";
import { decodeTable, readTable } from "../../../src/posts/imports/read-table.ts";

const HEAD = ["accountId", "caption"];

describe("a table", () => {
  it.each([
    ["commas", "accountId,caption\na,b"],
    ["semicolons", "accountId;caption\na;b"],
    ["tabs", "accountId\tcaption\na\tb"],
    ["quotes", '"accountId","caption"\n"a","b"'],
    ["CRLF", "accountId,caption\r\na,b\r\n"],
    ["CR", "accountId,caption\ra,b\r"],
    ["a mark of its encoding", "\u{FEFF}accountId,caption\na,b"],
    ["empty lines at the end", "accountId,caption\na,b\n\n,\n\n"],
  ])("may have %s", (_what, text) => {
    expect(readTable(text)).toEqual([
      { line: 1, cells: HEAD },
      { line: 2, cells: ["a", "b"] },
    ]);
  });

  it("may say its separator", () => {
    const rows = readTable("sep=;\r\naccountId;caption\r\na;b,c,d,e");
    expect(rows).toEqual([
      { line: 2, cells: HEAD },
      { line: 3, cells: ["a", "b,c,d,e"] },
    ]);
  });

  it("keeps what stands within quotes, other separators and the ends of lines among it", () => {
    const [, row] = readTable('accountId;caption\na;"x, ""y""; z\r\n\ttwo\rthree "\n');
    expect(row?.cells).toEqual(["a", 'x, "y"; z\r\n\ttwo\rthree ']);
  });

  it.each(["\n", "\r\n", "\r"])("counts lines as an editor does, with %j", (end) => {
    const lines = ["a,b", '1,"x', "y", 'z"', "", "2,3", ",", '4,"5"'];
    expect(readTable(lines.join(end)).map(({ line }) => line)).toEqual([1, 2, 6, 8]);
  });

  it("may be as Excel saves it: UTF-8 or UTF-16", () => {
    const text = "accountId\tcaption\r\na\tGrüße 🎉";
    const utf16 = Buffer.from(`\u{FEFF}${text}`, "utf16le");
    expect(readTable(decodeTable(utf16))).toEqual(readTable(text));
    expect(readTable(decodeTable(Buffer.from(`\u{FEFF}${text}`)))).toEqual(readTable(text));
  });

  it.each([
    ["an Excel workbook", "PK\x03\x04\x14\0[Content_Types].xml\xe4\0xl/workbook.xml"],
    ["an Excel workbook", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"],
    ["an Excel workbook, or another packed file", "PK\x03\x04\x07\xff"],
    ["an OpenDocument spreadsheet", "PK\x03\x04\x14\0mimetypeapplication/vnd.oasis.opendocument.spreadsheet"],
    ["a Numbers spreadsheet", "PK\x03\x04\x14\0Index/Document.iwa"],
    ["a Word document", "PK\x03\x04\x14\0word/document.xml"],
    ["an HTML page", "\xef\xbb\xbf\n<table><tr><td>caption</td></tr></table>"],
    ["an HTML page", "<!DOCTYPE html><html>"],
    ["an XML document", '<?xml version="1.0"?><Workbook>'],
    ["a PDF document", "%PDF-1.7\n"],
    ["an RTF document", "{\\rtf1\\ansi"],
    ["JSON", '[\n  {"caption": "Hello"}]'],
    ["a picture", "\x89PNG\r\n\x1a\n"],
  ])("is not %s, which is named as such, as bytes and as a text: %j", (name, content) => {
    const sentence = `csv: This is ${name}. Save it as "CSV UTF-8".`;
    expect(() => decodeTable(Buffer.from(content, "latin1"))).toThrow(sentence);
    expect(() => readTable(content.replace("\xef\xbb\xbf", "\u{FEFF}"))).toThrow(sentence);
  });

  it("is refused in an older encoding, with what to do", () => {
    const latin = Buffer.from("caption\nGrüße", "latin1");
    expect(() => decodeTable(latin)).toThrow('Save it again as "CSV UTF-8"');
  });
});
