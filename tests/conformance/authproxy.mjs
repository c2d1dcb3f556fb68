// Lends the conformance suites a bearer token: they cannot send headers of their own.
//
//   node authproxy.mjs TARGET_PORT        (the token comes in the environment variable BEARER)
//
// Prints the port it listens on, then forwards every request unchanged but for Authorization. Host and
// Origin reach the gateway as the suite wrote them, or its checks against DNS rebinding would prove nothing.
import { createServer, request } from "node:http";
import { pipeline } from "node:stream";

const target = Number(process.argv[2]);
const authorization = `Bearer ${process.env.BEARER}`;

const forward = (incoming, outgoing) => {
  const upstream = request({
    host: "127.0.0.1",
    port: target,
    method: incoming.method,
    path: incoming.url,
    headers: { ...incoming.headers, authorization },
  });
  upstream.on("response", (answer) => {
    outgoing.writeHead(answer.statusCode, answer.headers);
    pipeline(answer, outgoing, () => {});
  });
  upstream.on("error", () => outgoing.destroy());
  outgoing.on("close", () => upstream.destroy());
  pipeline(incoming, upstream, () => {});
};

const server = createServer(forward);
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
