import { render } from "preact";
import { part } from "../shared/dom.ts";
import { App } from "./app.tsx";

render(<App />, part("app"));
