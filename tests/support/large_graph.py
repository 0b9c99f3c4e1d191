"""A graph of 300 linked classes with readable names, and what questions about it need: -> Turtle, questions."""

from collections.abc import Iterator

# fields of life: classes, each with the class that it belongs to; "a&b" also has many of b, and b many of a
FIELDS = """
hospital ward>hospital bed>ward patient>bed doctor>ward surgery>doctor prescription>patient&medicine
  medicine nurse>ward ambulance>hospital
library shelf>library novel>shelf author publisher>library loan>novel reader>loan
  novel_award>novel&author librarian>library bookmark>reader
airport terminal>airport gate>terminal flight>gate airline aircraft>airline pilot>airline&aircraft
  passenger>flight luggage>passenger runway>airport
school classroom>school teacher>classroom pupil>classroom lesson>teacher exam>lesson
  grade>exam&pupil textbook>lesson timetable>school headmaster>school
farm field>farm crop>field tractor>farm farmer>farm harvest>crop&tractor barn>farm cow>barn
  milking>cow fence>field
theatre stage>theatre play>stage playwright actor>play&rehearsal rehearsal>play costume>actor
  ticket>play usher>theatre curtain>stage
harbour pier>harbour ship>pier captain>ship cargo>ship&container container crane>pier sailor>ship
  lighthouse>harbour buoy>harbour
bakery oven>bakery bread>oven flour loaf_order>bread&topping topping baker>bakery apprentice>baker
  recipe_card>bread display>bakery
orchestra musician>orchestra instrument>musician concert>orchestra&symphony symphony composer
  conductor>orchestra score>symphony&composer hall>concert seat>hall
railway station>railway platform>station train>platform carriage>train locomotive>train&driver
  driver>railway signal_box>station track>railway timetable_stop>train&station
brewery vat>brewery beer>vat hop brewer>brewery keg>beer tasting>beer&judge judge pub>keg
  label_design>beer
mine shaft>mine gallery>shaft miner>gallery ore>gallery&mineral mineral drill>shaft blast>gallery
  lamp>miner foreman>mine
zoo enclosure>zoo animal>enclosure species keeper>enclosure feeding>animal&fodder fodder
  vet>zoo&animal visitor>zoo souvenir>visitor
newspaper section>newspaper article>section journalist>section editor>newspaper
  photograph>article&photographer photographer advert>section subscriber>newspaper
  printing_press>newspaper
football_club stadium>football_club footballer>football_club match>stadium&referee referee
  goal>match&footballer coach>football_club transfer>footballer fan>football_club trophy>football_club
bank branch_office>bank account>branch_office customer>account mortgage>customer
  teller>branch_office&shift shift cash_machine>branch_office safe>bank transaction>account
restaurant kitchen>restaurant chef>kitchen menu>restaurant course>menu&ingredient ingredient
  table_booking>restaurant waiter>restaurant guest>table_booking wine>menu
university faculty>university professor>faculty lecture>professor student>faculty&lecture
  laboratory>faculty experiment>laboratory thesis>student grant>professor campus>university
court courtroom>court trial>courtroom judge_bench>courtroom lawyer>trial defendant>trial
  witness>trial&statement statement verdict>trial jury>trial
hotel floor>hotel room>floor reservation>room hotel_guest>reservation chambermaid>floor&room_key
  room_key minibar>room lobby>hotel concierge>lobby
garage mechanic>garage car>garage repair>car&spare_part spare_part warehouse>spare_part tyre>car
  invoice>repair tow_truck>garage inspection>car
forest clearing>forest tree>clearing ranger>forest trail>forest&clearing bird>tree nest>bird
  mushroom>clearing hut>trail campfire>hut
film_studio film>film_studio director>film scene>film&extra extra camera>film_studio screenplay>film
  premiere>film cinema>premiere review>film
castle tower>castle dungeon>castle knight>castle sword>knight&blacksmith blacksmith
  tournament>castle&knight moat>castle banner>knight throne>castle
observatory telescope>observatory astronomer>observatory star>telescope planet>star&mission
  moon>planet comet>telescope mission crater>moon eclipse>moon
software_company product>software_company release>product defect>release&tester tester
  programmer>product code_review>programmer licence>product server>software_company outage>server
winery vineyard>winery grape>vineyard vintage>grape&cask cask cellar>winery sommelier>vintage
  bottle>vintage cork>bottle picker>vineyard
post_office postman>post_office parcel>post_office&depot depot letter>postman stamp>letter
  mailbox>postman recipient>parcel van>depot counter>post_office
museum_of_art exhibition>museum_of_art painting>exhibition painter>painting&pigment pigment
  sculpture>exhibition curator>exhibition restorer>painting frame>painting audio_guide>exhibition
power_plant turbine>power_plant engineer>turbine generator>turbine&substation substation
  transformer>substation cable>transformer meter>cable household>meter reactor>power_plant
"""
PROPERTIES = (
    "height weight budget capacity salary age width length price temperature colour rating duration depth speed volume "
    "founding_year opening_date manufacturer nickname owner material origin language address telephone status priority "
    "shape diameter frequency voltage area population insurance warranty comment code season motto"
).split()
EACH, MEMBERS = 4, 4
# questions in words of their own, and the tables that an answer has to read
QUESTIONS: tuple[tuple[str, str], ...] = (
    ("Which patients lie in beds of the ward 'ward 2'?", "patient bed ward"),
    ("How many nurses does each hospital have?", "nurse ward hospital"),
    ("Which medicines were prescribed to 'patient 1'?", "medicine prescription patient"),
    ("What is the average duration of the surgeries of 'doctor 3'?", "surgery doctor"),
    ("Who wrote the novels that won a novel award?", "novel_award author"),
    ("Which readers have borrowed novels from 'shelf 1'?", "reader loan novel shelf"),
    ("How many flights leave from terminals of 'airport 2'?", "flight gate terminal airport"),
    ("Which pilots fly aircraft of 'airline 1'?", "pilot airline aircraft"),
    ("How heavy is the luggage of passengers on 'flight 4'?", "luggage passenger flight"),
    ("Which pupils got a grade in an exam of the lesson 'lesson 2'?", "pupil grade exam lesson"),
    ("What textbooks does 'teacher 1' use in class?", "textbook lesson teacher"),
    ("Which tractors took part in harvests of 'crop 3'?", "tractor harvest crop"),
    ("How many cows stand in the barns of each farm?", "cow barn farm"),
    ("Who acts in plays of 'theatre 1'?", "actor play stage theatre"),
    ("Which costumes are worn in 'play 2'?", "costume actor play"),
    ("Which containers hold the cargo of 'ship 3'?", "container cargo ship"),
    ("How many sailors work on ships at 'pier 1'?", "sailor ship pier"),
    ("Which toppings are on orders of 'bread 2'?", "topping loaf_order bread"),
    ("What symphonies were played at concerts of 'orchestra 4'?", "symphony concert orchestra"),
    ("Which composers wrote scores of 'symphony 1'?", "composer score symphony"),
    ("At which stations does 'train 2' stop?", "station timetable_stop train"),
    ("Who drives the locomotives of trains on 'platform 1'?", "driver locomotive train platform"),
    ("Which judges tasted 'beer 3'?", "judge tasting beer"),
    ("Which minerals are in ore from galleries of 'shaft 2'?", "mineral ore gallery shaft"),
    ("What fodder is fed to 'animal 1'?", "fodder feeding animal"),
    ("Which animals were treated by 'vet 2'?", "animal vet"),
    ("Which photographers took pictures for articles of 'section 3'?", "photographer photograph article section"),
    ("Who scored in matches at 'stadium 1'?", "footballer goal match stadium"),
    ("Which referee is the tallest by height?", "referee"),
    ("How many transactions were made on accounts of 'branch office 2'?", "transaction account branch_office"),
    ("Which ingredients are in the courses of 'menu 1'?", "ingredient course menu"),
    ("Which students attend lectures of 'professor 2'?", "student lecture professor"),
    ("What experiments ran in laboratories of 'faculty 3'?", "experiment laboratory faculty"),
    ("Which statements did witnesses make at 'trial 1'?", "statement witness trial"),
    ("Which guests reserved rooms on 'floor 2' of the hotel?", "hotel_guest reservation room floor"),
    ("Which spare parts were needed to repair 'car 4'?", "spare_part repair car"),
    ("Which knights carry swords forged by 'blacksmith 2'?", "knight sword blacksmith"),
    ("Which missions went to planets of 'star 1'?", "mission planet star"),
    ("Which testers found defects in releases of 'product 3'?", "tester defect release product"),
    ("How many households are metered by cables of 'transformer 1'?", "household meter cable transformer"),
)


def classes() -> dict[str, tuple[str, str]]:
    """Each class with the class that it belongs to and the one that it has many of, "" where there is none."""
    found: dict[str, tuple[str, str]] = {}
    for word in FIELDS.split():
        name, _, rest = word.partition(">")
        name, _, own = name.partition("&")
        parent, _, many = rest.partition("&")
        found[name] = (parent, many or own)
    return found


def turtle() -> str:
    """The graph: four members a class, four properties each."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
    for number, (name, (parent, many)) in enumerate(sorted(classes().items())):
        label = name.replace("_", " ")
        yield f':{name.title().replace("_", "")} rdfs:label "{label}" .'
        own = [PROPERTIES[(number * 7 + n * 11) % len(PROPERTIES)] for n in range(EACH)]
        for member in range(1, MEMBERS + 1):
            facts = [f'rdfs:label "{label} {member}"', *(f":{each} {_value(each, number, member)}" for each in own)]
            if parent:
                facts.append(f":in_{parent} :{parent}{(member + 1) // 2}")
            if many:
                facts.append(f":with_{many} :{many}{member}, :{many}{member % MEMBERS + 1}")
            yield f":{name}{member} a :{name.title().replace('_', '')} ; " + " ; ".join(facts) + " ."


def _value(name: str, number: int, member: int) -> str:
    index = PROPERTIES.index(name)
    return str(10 + number + member * 3) if index < 16 else f'"{name[:3]} {number} {member}"'
