import { part } from "../shared/dom.ts";

part("app").hidden = false;
