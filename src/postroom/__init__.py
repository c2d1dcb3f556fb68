"""Postroom: a mail gateway for agents. This is the map; a test holds it to the tree, and contracts to the arrows.

An import may only point down a storey; neighbours in a storey do not know each other.

    base/           words everybody uses
        errors  clock  caller  levels  kleene  expression  glob  domain  secret  tls  certificate  cause  refusal
        token  seal  files  turns  logs  meters  backoff  http1  webhooksecret
    mail/           pure values: octets to heads, parts and text
        model  parse  threads  transcript
        header  lines  charset  iso2022  address  addresstokens  date  head
        structure  entity  parameters  filename  filewords  transfer  streams  sizes  sniff  inside  parts  content
        flowed  render  calendar  unseen  markup  quotes  quotewords  armour  authentication  signals
        url/target  url/host  url/wrapper  url/find
        page/css  page/sheet  page/media  page/selectors  page/cascade  page/properties  page/lengths  page/colours
        page/geometry  page/state  page/walk  page/rows  page/words  page/safe  page/pieces  page/loads
        outgoing/model  outgoing/address   outgoing/identity  outgoing/file  outgoing/words
        outgoing/fields  outgoing/body  outgoing/compose  outgoing/check  outgoing/replying  outgoing/marks
        outgoing/redraft  outgoing/organisation
        query/tree  query/filters  query/program  query/matching  query/pushdown  query/sorting
        query/himalaya  query/himalayareader  query/himalayafaults
    config/         the configuration file as frozen values, or every fault at once
        load  schema  servers  section  values  storeurl  rules  wording  nodes  plain  faults  credential
        presets  surroundings  targets  webhooks  webhookrules
        policies/policy  policies/folders  policies/messages  policies/matching  policies/content  policies/attachments
        policies/actions  policies/outbound  policies/quiethours  policies/limits  policies/trials  policies/values
        policies/rules  policies/conflicts  policies/tokenrules  policies/hazards  policies/exceptions
        policies/sendfile
    policy/         pure decisions: fetched to shown, and nothing else makes what an answer may hold
        visibility  content  contentrules  attachments  filefacts  filefindings  pagewords  snapshot
        effective  people  folderrules  messagerules  matchrules  personkeys  messagekeys  condition  evidence
        textpatterns  contentmeet  attachmentrules  actionrules  trials  probes  widening  changedkeys
        projection  bodies  plainwords  strings  shownlinks  shownhtml  redaction  spotlight  heads
        detectors/pattern  detectors/shadow  detectors/otp  detectors/otpwords  detectors/links  detectors/secrets
        detectors/keys  detectors/passwords  detectors/numbers  detectors/personal  detectors/recovery
        detectors/seedwords
        outbound/clearing  outbound/judging  outbound/judgement  outbound/plan  outbound/rules  outbound/case
        outbound/recipients  outbound/correspondence  outbound/operations  outbound/loops  outbound/rates
        outbound/quiethours  outbound/untrusted  outbound/words  outbound/files  outbound/holding
        outbound/ownsecrets  outbound/decoding  outbound/hosts  outbound/replies  outbound/compiling
        outbound/supposing
        explaining
    imap/           the IMAP client: pure wire, one conversation, a pool
        wire  stream  incoming  login  reply  conversation  connection  opening  entrance  admission  pool  commands
        changes
        bodystructure  search  watching
        names  statistics  faults
    smtp/           the submission client: logged-in sessions, one attempt for each message
        submission  opening  login  session  transaction  submitter  outcome  faults
    store/          what survives a restart: tokens, keys, sends, what was spent, the audit trail, the stop switch
        database  connection  worker  batches  sqlite  postgresql  schema  migrations  announcing  hearing  lock
        times  tokens  keys  sends  spending  switch  own
        audit  auditkeys  audithead  auditcheck  auditlist
        gateways  callrates  leases  deliveries  deliverylist  courierqueue  endpoints  marks  told  findings  copying
    mailbox/        the door: nobody else reaches IMAP, SMTP or the unfiltered account
        account  folders  naming  labels  reading  parsing  fetching  sections  session  cache  listing  searching
        changing  moving  labelling  organizing  outcomes
        sending  sentcopy  finding  outbox  drafts
        messages  downloads  filetexts  uids  cursors  following  sincecursor  feed  statistics
        board  ear  listening  watching  waiting  streaming  notices  numbers
        setting  explaining  sight  filesight  bound  boundfiles  sights  sealeduids  heads  records
        visibleconversations  discretion  judge  view  entry  directory
        kindred  conversations  threads
        faults  wiring  health  checkup  remedies
    operations/     what the product does: declared once, run in one corridor
        operation  access  ask  answer  schema  faults  rate  visit  perform  catalogue
        books  places  journal  debts  trail  entries  succession
        overview  inbox  filters  searching  reading  rows  knownrows  messages  room  blob  files  organizing
        following  eventstream
        threads  threadlists
        outgoing  drafting  delivery  sending
        relay/envelopes  relay/listing  relay/reading  relay/sending  relay/changing
        administering  auditing  webhooks  queue
    events/         new mail reaches people: watchers find what happened, couriers tell it
        endpoint  watched  pace  arrivals  changes  reach  watcher  duty
        signing  ranges  resolving  egress  posting  schedule  recheck  delivering  courier
        outcomes  trying
    surfaces/       skins: HTTP API and MCP
        http_connection  application  load  guard  authenticate  presence  bodies  responses  metrics
        downloads  eventstreams  serving
        http_api  routes  documents  openapi  mcp  toolbox
    version         one number
    app             the roof: from a configuration to a running process
    gate            the application, and the configuration that it serves by
    reloading       the configuration read again while the gateway runs
    telling         receivers of webhooks are told while it runs
    precautions     what the operator is warned of in the log
    checkup         what `postroom check` says
    doctor          what `postroom doctor` says
    explaining      what `postroom policy explain` says
    demo/           a mail server with sample mail before the same gateway
        configuration  samples  servers  welcome
    bridge/         a client of a running gateway: MCP over stdin and stdout, carried to /mcp over HTTP
        running  carrying  pipes  message  exchange  answer  address  faults
    cli/            the command line
        state  beginning  tokens  keys  stores  policies  explaining  doctoring  audit  stopping  bridging  webhooks

A call. `application` refuses foreign hosts and finds the caller. `mcp` (a pure function) or `http_api` hands name and
arguments to `perform`: offered? rate, shape, run. The handler's only road to mail is `call.mailbox(name)`, a
`MailboxView`. The view opens a folder on the `account`, reads in stages, and `policy.visibility.show` turns each
`Fetched` into a `Shown` or into nothing; answers can be built from `Shown` alone.

A list. Candidates by UID windows from the newest down, rows, show, match, page, cursor: the same for every caller.

A file. `policy.attachments.release` puts the stamp on a part that lets `mailbox.downloads` open it; its octets come in
ranges, each on a connection that is given back, and leave as a `Blob`: streamed over HTTP, inlined or refused over MCP.

A message. Up to 128 KiB whole in one command; larger ones by section, where BODYSTRUCTURE only says where octets lie
and our parse of each section's own header says what they are. `policy.content.read` makes of its bodies what may be
read: the page as a human would see it, tidied, neutralised, without history; and the signals of what it met. Under
rules (`policy.content.project`) its links are reduced and codes and keys redacted in every form that is shown.

New mail. A `Listener` has one connection of its own and pins to the `board` that something happened in a folder. Who
waits (`inbox`, the event stream, a `Watcher`) stands before the board and then looks through its own view, so hidden
mail wakes nobody. A watcher writes what is to be told, and how far that goes, in one transaction under its lease.

An error. `imap` and `smtp` raise faults in the protocol's terms; `mailbox.faults` tells them once in the caller's;
anything unexpected ends in `perform`, with a trace in the log and no inner text in the answer.
"""
