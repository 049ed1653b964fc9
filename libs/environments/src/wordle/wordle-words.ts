/**
 * The words that are guessed and asked for: common English words of five letters, written down for this file by its author, not taken from a
 * list; so the list is under the licence of this repository. Their order is part of what a seed gives: add words only with a new
 * environment.
 */
export const WORDLE_WORDS: readonly string[] = `
about above actor adult after again agent agree ahead alarm album alert alike alive allow alone along alter among
anger angle angry ankle apple apply apron arena argue arise armor arrow aside asset attic audio avoid awake award
aware awful bacon badge baker basic basil basin batch beach beard beast begin being below bench berry birth black
blade blame blank blaze blend bless blind block blood bloom board boast bonus boost booth bound brain brake brand
brave bread break brick bride brief bring broad brook broom brown brush build bunch burst cabin cable camel canal
candy cargo carol carry carve catch cause chain chair chalk charm chart chase cheap check cheek cheer chess chest
chief child chill choir civic claim class clean clear clerk click cliff climb clock close cloth cloud clown coach
coast cocoa color comet coral couch count court cover crack craft crane crash crate cream creek crime crisp cross
crowd crown crumb crush crust curve cycle daily dairy daisy dance delay depth devil diary digit ditch diver dozen
draft drain drama dream dress drift drink drive eager eagle early earth easel eight elbow elder empty enemy enjoy
enter entry equal error event every exact exist extra fable faith false fancy favor feast fence ferry fever field
fifth fifty fight final first flame flash fleet flesh float flock flood floor flour fluid flute focus force forge
forty found frame fresh frost fruit funny ghost giant given glass globe glove grace grade grain grand grant grape
graph grass grave great green greet grief group grown guard guess guest guide habit happy harsh heart heavy hedge
hello hobby honey honor horse hotel house human humor ideal image index inner input ivory jelly jewel joint judge
juice knife knock known label labor large laser later laugh layer learn lemon level light limit linen liver local
logic loose lower loyal lucky lunch magic major maple march match maybe mayor medal melon mercy merit merry metal
meter might minor model money month moral motor mount mouse mouth movie music nerve never night noble noise north
novel nurse ocean offer often olive onion opera orbit order other otter outer owner paint panel panic paper party
pasta patch pause peace peach pearl pedal penny phase phone photo piano piece pilot pitch pizza place plain plane
plant plate point polar porch pound power press price pride prime print prize proof proud pulse punch pupil purse
queen quest quick quiet quilt quite quote radar radio raise ranch range rapid raven reach ready realm rebel relay
reply rider ridge rifle right rival river robin robot rocky rough round route royal rural salad sauce scale scarf
scene scent score scout screw seven shade shake shape share shark sharp sheep sheet shelf shell shift shine shirt
shock shoes shore short shout shown sight silly since skill skirt sleep slice slide slope small smart smile smoke
snack snake solid solve sorry sound south space spare spark speak speed spell spend spice spike spine spoon sport
spray squad stack staff stage stain stair stamp stand start state steam steel steep stick still stone store storm
story stove straw strip study style sugar sunny super sweet swift swing sword table taste teach thank theme thick
thief thing think third thorn three throw thumb tiger tight timer title toast today token tooth topic torch total
touch tower trace track trade trail train treat trend trial tribe trick truck trunk trust truth tulip twice twist
uncle under union unite until upper upset urban usage usual valid value vapor video visit vital vivid voice voter
wagon waist waste watch water whale wheat wheel where which while white whole width woman world worry worth wound
wrist write wrong yacht yield young youth zebra
`
  .trim()
  .split(/\s+/);
