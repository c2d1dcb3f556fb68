"""Postroom: a mail gateway for agents. This is the map; a test holds it to the tree, and contracts to the arrows.

An import may only point down a storey; neighbours in a storey do not know each other.

    base/           words everybody uses
        errors  clock  caller  secret  tls  token  seal  files  logs
    mail/           pure values: octets to heads, parts and text
        model  parse
        header  lines  charset  iso2022  address  addresstokens  date  head
        structure  entity  parameters  filename  transfer  sizes  parts  content  flowed  render
    config/         the configuration file as frozen values, or every fault at once
        load  schema  values  rules  wording  nodes  faults  credential
    policy/         pure decisions: fetched to shown, and nothing else makes a Shown
        visibility
    imap/           the IMAP client: pure wire, one conversation, a pool
        wire  stream  incoming  login  reply  connection  opening  pool  commands  bodystructure  names  faults
    smtp            the submission server
    store/          what survives a restart: tokens and sealing keys
        database  worker  migrations  times  tokens  keys
    mailbox/        the door: nobody else reaches IMAP, SMTP or the unfiltered account
        account  folders  reading  fetching  sections  cache  listing
        uids  cursors  view  entry  directory  health  faults  wiring
    operations/     what the product does: declared once, run in one corridor
        operation  access  ask  answer  schema  faults  rate  perform  catalogue
        overview  reading  messages  room  administering
    surfaces/       skins: HTTP API and MCP
        http_connection  application  guard  authenticate  presence  responses
        http_api  routes  documents  openapi  mcp  toolbox
    version         one number
    app             the roof: from a configuration to a running process
    demo/           a mail server with sample mail before the same gateway
        configuration  samples  servers  welcome
    cli             the command line

A call. `application` refuses foreign hosts and finds the caller. `mcp` (a pure function) or `http_api` hands name and
arguments to `perform`: offered? rate, shape, run. The handler's only road to mail is `call.mailbox(name)`, a
`MailboxView`. The view opens a folder on the `account`, reads in stages, and `policy.visibility.show` turns each
`Fetched` into a `Shown` or into nothing; answers can be built from `Shown` alone.

A list. Candidates by UID windows from the newest down, rows, show, match, page, cursor: the same for every caller.

A message. Up to 128 KiB whole in one command; larger ones by section, where BODYSTRUCTURE only says where octets lie
and our parse of each section's own header says what they are.

An error. `imap` and `smtp` raise faults in the protocol's terms; `mailbox.faults` tells them once in the caller's;
anything unexpected ends in `perform`, with a trace in the log and no inner text in the answer.
"""
