import { expect, it } from "vitest";
import { readSmtpAddress } from "../../../src/domain/settings/smtp-address.ts";

it.each([
  [
    "smtps://me%40example.com:p%3Ass@mail.example.com",
    {
      host: "mail.example.com",
      port: 465,
      isSecure: true,
      login: { user: "me@example.com", password: "p:ss" },
      from: "me@example.com",
    },
  ],
  [
    "smtp://localhost:1025?from=posthorn@example.com",
    { host: "localhost", port: 1025, isSecure: false, login: null, from: "posthorn@example.com" },
  ],
  [
    "smtp://u:100%@mail?from=a@b.example",
    {
      host: "mail",
      port: 587,
      isSecure: false,
      login: { user: "u", password: "100%" },
      from: "a@b.example",
    },
  ],
  [
    "smtp://u:p@[::1]?from=a@b.example",
    { host: "::1", port: 587, isSecure: false, login: { user: "u", password: "p" }, from: "a@b.example" },
  ],
])("reads %s", (text, expected) => expect(readSmtpAddress(text)).toEqual(expected));

it.each([
  ["mail.example.com", /address of a mail server/],
  ["https://u:canary@mail.example.com", /address of a mail server/],
  ["smtp://u:canary@mail.example.com", /who sends/],
  ["smtp://u:canary@mail.example.com?from=nobody", /who sends/],
])("refuses %s, and quotes nothing of it", (text, reason) => {
  expect(readSmtpAddress(text)).toMatch(reason);
  expect(readSmtpAddress(text)).not.toMatch(/canary/);
});
